// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/callvet/callvet/internal/sys"
)

// KeptToken is the stored token of a server.
type KeptToken struct {
	Token   string    `json:"token"`
	Expires time.Time `json:"expires,omitzero"`
	// Made: login made it, so logout ends it.
	Made bool `json:"made,omitempty"`
}

// KeptTokens returns the tokens in the file at path, by server.
func KeptTokens(path string) (map[string]KeptToken, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]KeptToken{}, nil
	}
	out := map[string]KeptToken{}
	if err == nil && len(b) > 0 {
		err = json.Unmarshal(b, &out)
	}
	if err != nil {
		return nil, fmt.Errorf("read tokens: %s: %w", path, err)
	}
	return out, nil
}

// KeepToken stores a token for a server in the file at path, which only its owner may read; nil removes it.
func KeepToken(ctx context.Context, path, base string, t *KeptToken) error {
	f, err := sys.PrivateFile(path)
	if err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	if err := errors.Join(f.Chmod(0o600), f.Close()); err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	release, err := sys.HoldFolder(ctx, path)
	if err != nil {
		return fmt.Errorf("keep token: %w", err)
	}
	all, err := KeptTokens(path)
	if err == nil {
		if delete(all, base); t != nil {
			all[base] = *t
		}
		err = sys.WriteFile(ctx, path, func(w io.Writer) error {
			enc := json.NewEncoder(w)
			enc.SetIndent("", "  ")
			return enc.Encode(all)
		})
	}
	return errors.Join(err, release())
}
