from tests.diagnose.setups.exported_twice import functional_dropout
from tests.diagnose.trainers import trainer

OUTCOMES = [[trainer], [functional_dropout]]
