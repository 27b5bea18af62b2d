// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/web"
)

const viewLong = `Open the page on the runs of this machine. It only reads, and has no users: who has the link sees all that the database holds.

The link works once, for one browser on this machine; the next start prints a new one.
Other commands, and callvet serve, work at the same time.`

// viewCommand shows the store in a browser until it is interrupted.
func (a *cli) viewCommand() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "view", Short: "Show runs in a browser; read-only, without a login", Long: viewLong,
		Args:    cobra.NoArgs,
		Example: "  callvet view\n  callvet view --listen 127.0.0.1:8502 --db team.db",
		RunE:    func(cmd *cobra.Command, _ []string) error { return a.viewStore(cmd.Context(), listen) },
	}
	cmd.Flags().StringVar(&listen, "listen", "127.0.0.1:0",
		"address of this machine to listen at; with port 0 a free one")
	return cmd
}

// viewStore answers until ctx ends.
func (a *cli) viewStore(ctx context.Context, listen string) error {
	own, err := local(listen)
	if err != nil {
		return err
	}
	if !own {
		return usagef("--listen %s: other machines would reach it, and it has no users: callvet serve has", listen)
	}
	db, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	level := slog.LevelWarn
	if a.verbose {
		level = slog.LevelInfo
	}
	cfg := api.Config{
		ReadOnly: true, Store: db, Now: a.now, Version: buildVersion(),
		Log: slog.New(slog.NewTextHandler(a.err, &slog.HandlerOptions{Level: level})),
		App: app.New(app.Config{
			Store: a.openStore, Files: paths{a}, Now: a.now, Claim: a.claim, Vectors: a.vectorPath,
			Abort: a.process.Hard.Done(), Version: buildVersion(),
		}),
	}
	if cfg.Page, err = web.Files(); err != nil {
		return fmt.Errorf("open the page: %w", err)
	}
	f := serveFlags{listen: listen}
	l, err := f.listener(ctx, &cfg, a)
	if err != nil {
		return err
	}
	srv, err := server.New(cfg) //nolint:contextcheck // handlers have that of their request
	if err != nil {
		return errors.Join(err, l.Close())
	}
	a.process.Patient(api.Drain + 2*time.Second)
	a.process.OnInterrupt("interrupted; the page has ended")
	fmt.Fprintf(a.err, "open this link in a browser of this machine; it works once. Ctrl-C ends the page\n  %s\n",
		srv.ViewLink())
	err = server.Serve(ctx, srv, l)
	a.drained = err == nil && a.process.Hard.Err() == nil
	return err
}
