// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package dialect

import (
	"bytes"
	"path/filepath"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// BFCL is the format of the Berkeley leaderboard: files of questions, with files of answers next to
// them. It is read only, and none of Names.
const BFCL = "bfcl"

// IsBFCL reports whether a file is a file of questions. It reads only a possible one: its rows have
// the keys, or it is packed.
func IsBFCL(data []byte, path string) bool {
	head := data[:min(len(data), 1<<20)]
	packed, err := doc.Packed(head)
	return err == nil && (packed || bytes.Contains(head, []byte(`"question"`))) && detectBFCL(data, path)
}

// ImportBFCL reads a file of questions with the file of answers next to it; without
// Options.Include no answers are read.
func ImportBFCL(data []byte, path string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	return importBFCL(data, path, include(filepath.Dir(path), opt))
}

// ImportBFCLFolder reads all files of questions of a folder as one suite.
func ImportBFCLFolder(dir string, opt Options) (*callvet.Suite, []callvet.Problem, error) {
	return ImportBFCLTree(dir, include(dir, opt))
}

// include opens the files of a folder that the importer finds by their whole path.
func include(dir string, opt Options) OpenBFCL {
	if opt.Include == nil {
		return nil
	}
	return func(path string) ([]byte, error) {
		rel, err := filepath.Rel(dir, path)
		if err != nil {
			return nil, err
		}
		return opt.Include(dir, rel)
	}
}
