class Viewer:
    def restore(self, checkpoint):
        self.start_epoch = checkpoint["epoch"]
        self.model.load_state_dict(checkpoint["model"])
