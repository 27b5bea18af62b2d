// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package doc

import (
	"fmt"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/value"
)

// Decode reads JSON or YAML into the value that into points to; its tags are the form of the file
// (internal/doc). The error is a callvet.Problem with the place of the first mistake: syntax, a
// duplicate key, an unknown key, a value of the wrong kind. With the File, the caller can find
// the places of further mistakes.
func Decode(name string, data []byte, into any) (*File, error) {
	d, bad := Read(name, data)
	if bad != nil {
		return d, d.Problem(bad)
	}
	return d, d.Fill(into)
}

// Fill is Decode for a parsed file, for callers that change its tree before, for example to unify
// two spellings of a key.
func (d *File) Fill(into any) error {
	if len(d.Dups) > 0 {
		twice := d.Dups[0]
		return callvet.Problem{
			Position: d.Position(twice.At), Code: "duplicate-key", Key: twice.Name,
			Message: fmt.Sprintf("the key %q stands here again, after line %d", twice.Name,
				d.Position(twice.First).Line),
		}
	}
	v, err := value.Parse(d.JSON())
	if err != nil { // a tree is JSON, except for numbers that JSON does not have
		return callvet.Problem{Position: callvet.Position{File: d.Name}, Code: "syntax", Message: err.Error()}
	}
	if w := Fill(v, into); w != nil {
		at, _ := d.Root.Find(w.Key)
		p := w.Problem(d.Name, 0, 0)
		p.Position = d.Position(at)
		return p
	}
	return nil
}

// JSON is the file's value as JSON, without comments. Its places differ from the places in the
// file.
func (d *File) JSON() []byte { return d.Root.AppendJSON(nil) }
