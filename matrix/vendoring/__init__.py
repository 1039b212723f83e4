"""Makes, compares and updates copies of reference fixes in other people's repositories.

A copy is a header of three lines, followed by the upstream file. .torch-repros/ beside it keeps

    <sha256>.orig             the text that a copy was made from: with it, your edits and upstream's
                              can always be told apart and merged, offline, even if the version does
                              not exist any more
    copies.txt                the files that were vendored, one per line
    <file>.<number>.before    the text of a copy before an update
    lock, tmp/                for one writer at a time, and its unfinished files
    .gitattributes            so that git does not change line ends
    .gitignore                so that git keeps the first two and ignores the last
"""
