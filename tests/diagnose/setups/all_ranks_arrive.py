from tests.diagnose.setups.batches_per_rank import sliced_by_hand
from tests.diagnose.trainers import trainer

RANKS = 2
HANGS = {"sliced_by_hand": ("limit = 60", "limit = 1")}

OUTCOMES = [[trainer], [sliced_by_hand]]
