import argparse


def parses():
    parser = argparse.ArgumentParser()
    parser.add_argument("--local_rank", type=int, default=0)  # finds local_rank_with_a_hyphen
    return parser.parse_args()


def parses_again():
    other = argparse.ArgumentParser()
    other.add_argument("--local_rank", "--rank", type=int)  # finds local_rank_with_a_hyphen
    other.add_argument("--local-rank", "--local_rank", type=int)
    other.add_argument("--rank", type=int)
    return other.parse_args()
