// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/report/plain"
)

const rekeyLong = `Seal all keys of providers, and all secrets of webhooks, with another key, in one transaction.

The server must not run. --new-secret-key names the file of the new key; a file that is missing is made, with a new key.
Start the server with --secret-key FILE afterwards. The old key still opens older copies of the database: where both may have
leaked, replace the keys at their providers. Then delete the old key.`

// rekeyCommand changes the key that seals keys of providers.
func (a *cli) rekeyCommand() *cobra.Command {
	var was, now string
	cmd := &cobra.Command{
		Use: "rekey", Short: "Encrypt a server's stored keys with a new key", Long: rekeyLong, Args: cobra.NoArgs,
		Example: "  callvet rekey --new-secret-key /etc/callvet/key-2027\n  callvet serve --secret-key /etc/callvet/key-2027",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.rekey(cmd.Context(), was, now) },
	}
	cmd.Flags().StringVar(&was, "secret-key", "",
		"file with the present key (default: next to the database, or $CALLVET_SECRET_KEY)")
	cmd.Flags().StringVar(&now, "new-secret-key", "",
		"file with the new key, made if missing")
	return cmd
}

func (a *cli) rekey(ctx context.Context, was, now string) (err error) {
	if now == "" {
		return usagef("--new-secret-key is missing: which file has the new key?")
	}
	db, release, err := a.onlyServer(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	from, err := a.secretKey(ctx, was, false)
	if err != nil {
		return err
	}
	to, err := a.secretKey(ctx, now, true)
	if err != nil {
		return err
	}
	if bytes.Equal(from, to) {
		return usagef("the new key is the key that seals now: name another file")
	}
	users, err := account.New(account.Config{Store: db, Secret: from, Now: a.now})
	if err != nil {
		return err
	}
	done, err := users.Rekey(ctx, to)
	if err != nil {
		return err
	}
	fmt.Fprintf(a.out, "%s sealed with the key of %s; start the server with --secret-key %s\n",
		plain.Count(done.Sealed, "secret is", "secrets are"), plain.Line(now), plain.ShellQuote(now))
	if done.Lost > 0 {
		fmt.Fprintf(a.err, "warning: the old key did not open %s: their users set them again\n",
			plain.Count(done.Lost, "secret", "secrets"))
	}
	return nil
}
