// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package revision

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/cmd/callvet/selector"
	"github.com/callvet/callvet/internal/input"
	"github.com/callvet/callvet/internal/suite/source"
	"github.com/callvet/callvet/retrieve/catalogue"
	"github.com/callvet/callvet/retrieve/revise"
)

func applyCommand(e *Env) *cobra.Command {
	var edits, to string
	var status []string
	cmd := &cobra.Command{
		Use: "apply CATALOGUE --edits EDITS -o NEW", Short: "Write a catalogue with the edits that were accepted",
		Long: `Write the catalogue with edits in it, to a file of its own or, when -o names it, in its own place; whole or not at all.
Every byte that no edit is about stays as it was; YAML, JSON with comments, one tool a line and gzip are written as plain JSON, to
another file. A file that is no catalogue is not written over. Only edits with status: accepted are taken, unless --status says otherwise.`,
		Example: "  callvet tools apply catalogue.json --edits edits.yaml -o catalogue.new.json", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if edits == "" || to == "" {
				return fmt.Errorf("apply: %w: --edits and -o are needed", callvet.ErrInvalid)
			}
			if to == "-" {
				return &callvet.Hinted{Err: fmt.Errorf("apply: %w: a catalogue is written to a file, whole or not at all", callvet.ErrInvalid), Hint: "-o NEW.json"}
			}
			st, err := states(status)
			if err != nil {
				return err
			}
			return e.apply(cmd.Context(), args[0], edits, to, st)
		},
	}
	cmd.Flags().StringVar(&edits, "edits", "", "file with the edits")
	cmd.Flags().StringVarP(&to, "output", "o", "", "catalogue to write")
	cmd.Flags().StringSliceVar(&status, "status", []string{"accepted"}, "edits that are taken: accepted, proposed, rejected")
	return cmd
}

func (e *Env) apply(ctx context.Context, file, edits, to string, st []revise.Status) error {
	data, err := e.Read(file)
	if err != nil {
		return fmt.Errorf("read catalogue: %w", err)
	}
	f, err := e.edits(edits, st)
	if err != nil {
		return err
	}
	p, err := plainOf(file, data)
	if err != nil {
		return err
	}
	if err := e.mayReplace(file, edits, to, data, p.form); err != nil {
		return err
	}
	out, err := revise.Rewrite(file, p.text, f.Edits)
	if err != nil {
		return err
	}
	if err := e.Write(ctx, to, append(p.mark, out...)); err != nil {
		return err
	}
	done := applied{Format: "callvet.tools-apply", Version: 1, Catalogue: to, Left: f.left, Converted: p.form != "", form: p.form}
	for i := range f.Edits {
		d := &f.Edits[i]
		done.Tools = append(done.Tools, d.Tool)
		if d.Name != nil && *d.Name != d.Tool {
			done.Renamed = append(done.Renamed, d.Tool)
		}
	}
	return e.tell(&done)
}

// plainText is a catalog's file as JSON: the mark of byte order before it, and the
// form that the file has; empty for JSON, of which every byte stays.
type plainText struct {
	mark, text []byte
	form       string
}

// The forms of catalogs that are written as JSON, in another file.
const (
	formZip   = "compressed"
	formYAML  = "YAML"
	formLines = "JSON with comments, or of one tool a line"
)

func plainOf(name string, data []byte) (p plainText, err error) {
	rest := data
	if mark := []byte("\xef\xbb\xbf"); bytes.HasPrefix(data, mark) {
		p.mark, rest = mark, data[len(mark):]
	}
	open, err := input.All(name, rest, catalogue.MaxBytes)
	if err != nil {
		return p, fmt.Errorf("read catalogue: %w", err)
	}
	p.text, _, err = source.PlainJSON(name, open)
	switch {
	case err != nil:
		return p, fmt.Errorf("read catalogue: %w: %w", callvet.ErrInvalid, err)
	case bytes.Equal(p.text, rest):
		return p, nil
	case bytes.Equal(p.text, open):
		p.form = formZip
	case source.IsYAML(name, open):
		p.form = formYAML
	default:
		p.form = formLines
	}
	p.mark = nil
	return p, nil
}

// mayReplace is an error where a file would be lost that is no older catalog. Files are
// told by what they hold, too: the same one has many paths.
func (e *Env) mayReplace(file, edits, to string, data []byte, form string) error {
	same := filepath.Clean(to) == filepath.Clean(file)
	old, there, err := e.Old(to)
	if err != nil || !there && !same {
		return err
	}
	said, err := e.Read(edits)
	switch {
	case filepath.Clean(to) == filepath.Clean(edits) || err == nil && bytes.Equal(old, said):
		return fmt.Errorf("apply: %w: the catalogue would be written over the edits", callvet.ErrInvalid)
	case same || bytes.Equal(old, data):
		if form != "" {
			return &callvet.Hinted{Err: fmt.Errorf("write %s: %w: only plain JSON is changed in its own place, and it is %s", to, callvet.ErrInvalid, form), Hint: "-o NEW.json"}
		}
		return nil
	case len(bytes.TrimSpace(old)) == 0:
		return nil
	}
	if _, _, err := selector.Load(to, e.Read); err != nil {
		return &callvet.Hinted{Err: fmt.Errorf("write %s: %w: there is a file that is no catalogue", to, callvet.ErrConflict), Hint: "-o with another name"}
	}
	return nil
}
