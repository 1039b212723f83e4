from tests.diagnose.setups.learns_a_single_reward import _agent, _values


def ends():
    return _agent(_values, rate=1e-2)


def done_is_ignored():
    def loss_of(policy, states, actions, rewards, next_states, dones):
        return _values(policy, states, actions, rewards, next_states, 0 * dones)

    return _agent(loss_of, rate=1e-2)


def hardly_learns():
    return _agent(_values, rate=1e-6)


OUTCOMES = [[ends], [done_is_ignored], [hardly_learns]]
