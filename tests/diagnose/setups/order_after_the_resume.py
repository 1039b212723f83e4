from tests.diagnose.setups.order_of_each_epoch import not_shuffled
from tests.diagnose.setups.rate_after_the_load import without_the_scheduler
from tests.diagnose.trainers import trainer

OUTCOMES = [[trainer], [without_the_scheduler], [not_shuffled]]
