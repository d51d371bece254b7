module github.com/whylate/whylate

go 1.26
