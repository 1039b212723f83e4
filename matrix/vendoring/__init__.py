"""Creates, compares and updates copies of reference fixes in other repositories.

A copy consists of a header of three lines, followed by the upstream file. The folder .torch-repros/
next to it contains

    <sha256>.orig             the original text of a copy, with which your edits and upstream's can
                              always be distinguished and merged, offline, even if the version no
                              longer exists
    copies.txt                the vendored files, one per line
    <file>.<number>.before    the text of a copy before an update
    lock, tmp/                a lock for the writer, and its unfinished files
    .gitattributes            prevents git from changing line ends
    .gitignore                makes git keep the first two and ignore the lock and tmp/
"""
