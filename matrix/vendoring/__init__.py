"""Copies of reference fixes in other people's repositories: made, compared with upstream, updated.

A copy is a header of three lines and the file as it is upstream. .torch-repros/ beside it keeps

    <sha256>.orig             the text that a copy was made from: with it, your edits and upstream's
                              can always be told apart and merged, offline, whatever became of the
                              version
    copies.txt                the files that were vendored, one per line
    <file>.<number>.before    the text of a copy before an update
    lock, tmp/                for one writer at a time, and what it has not finished
    .gitattributes            so that git leaves line ends alone
    .gitignore                so that git keeps the first two and ignores the last
"""
