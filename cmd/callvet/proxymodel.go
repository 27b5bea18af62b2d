// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"

	"github.com/callvet/callvet/internal/sys"

	"github.com/spf13/cobra"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/report/plain"
)

const proxyModelLong = `Stand between a program and the models that it asks. With --record, what they answer is written to a folder, one file for each
distinct request, and what is there already is not asked again. With --replay no model is asked: a request that has no recording
is an error that says what differs from the nearest one. So a test of a whole agent runs offline, at no cost, and the same each time.

The proxy speaks as OpenAI and as Anthropic do, plain and streamed. A command after -- runs with it, with OPENAI_BASE_URL and
ANTHROPIC_BASE_URL set to it; the exit code is that of the command, or 1 where it went well but a request did not. Without a
command the proxy answers until it is interrupted.

Keys are passed on and never written; secrets that callvet knows of are hidden in recordings.`

// proxyModelCommand records and replays models.
func (a *cli) proxyModelCommand() *cobra.Command {
	var q app.ModelProxyRequest
	var listen string
	cmd := &cobra.Command{
		Use:   "model (--record FOLDER | --replay FOLDER) [-- COMMAND …]",
		Short: "Record the answers of models, and replay them", Long: proxyModelLong,
		Example: "  callvet proxy model --record models -- npm test\n  callvet proxy model --replay models -- npm test\n  callvet proxy model --replay models --listen 127.0.0.1:7007",
		RunE: func(cmd *cobra.Command, args []string) error {
			if n := cmd.ArgsLenAtDash(); len(args) > 0 && n != 0 {
				return usagef("the command stands after --: callvet proxy model --replay FOLDER -- %s",
					strings.Join(args, " "))
			}
			return a.proxyModel(cmd.Context(), &q, listen, args)
		},
	}
	fs := cmd.Flags()
	fs.StringVar(&q.Record, "record", "", "folder of recordings that is read, and added to")
	fs.StringVar(&q.Replay, "replay", "", "folder of recordings that is read; no model is asked")
	fs.BoolVar(&q.Fresh, "fresh", false, "with --record: ask for everything again, and write it anew")
	fs.StringVar(&q.OpenAI, "openai", "",
		"address of OpenAI's API or one like it, with /v1 (default: $OPENAI_BASE_URL, or OpenAI's own); ${VAR} reads the environment")
	fs.StringVar(&q.Anthropic, "anthropic", "",
		"address of Anthropic's API or one like it, without /v1 (default: $ANTHROPIC_BASE_URL, or Anthropic's own); ${VAR} reads the environment")
	fs.StringSliceVar(&q.Ignore, "ignore", nil,
		"key of the body that does not distinguish requests, such as user; may be repeated")
	fs.StringVar(&listen, "listen", "127.0.0.1:0", "address to listen at; with port 0 a free one")
	return cmd
}

// proxyModel answers until the command or ctx ends.
func (a *cli) proxyModel(ctx context.Context, q *app.ModelProxyRequest, listen string, command []string) error {
	proxy, err := a.program().ModelProxy(*q, a.proxied())
	if err != nil {
		return err
	}
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return &callvet.Hinted{Err: fmt.Errorf("listen: %w", err), Hint: "--listen 127.0.0.1:0 takes a free port"}
	}
	defer sys.ServeHTTP(ctx, l, proxy)()
	at := "http://" + l.Addr().String()
	a.process.OnInterrupt("interrupted; what was recorded is in the folder")
	if len(command) == 0 {
		fmt.Fprintf(a.err, "listening: OPENAI_BASE_URL=%s/v1 ANTHROPIC_BASE_URL=%s\n", at, at)
		<-ctx.Done()
		return a.proxyEnded(proxy, 0)
	}
	code, err := sys.RunCommand(ctx, sys.Command{
		Line: command, Dir: a.dir, In: a.in, Out: a.childOut, Err: a.childErr,
		Env: append(slices.Clone(a.environ), "OPENAI_BASE_URL="+at+"/v1", "ANTHROPIC_BASE_URL="+at),
	})
	return errors.Join(err, a.proxyEnded(proxy, code))
}

// proxied prints the events of a proxy: errors, and with --verbose the rest.
func (a *cli) proxied() app.Events {
	show := a.events()
	return func(ev app.Event) {
		if ev.Note == nil || a.verbose {
			show(ev)
		}
	}
}

// proxyEnded prints the summary of the proxy.
func (a *cli) proxyEnded(proxy *app.ModelProxy, code int) error {
	r := proxy.Result()
	if bad := r.Missing + r.Failed; code == 0 && bad > 0 {
		code = exitError
	}
	a.exitStatus = code
	if a.jsonOut {
		return emit(a, r, func(io.Writer, *app.ModelProxyResult) error { return nil })
	}
	words := []string{}
	for _, n := range []struct {
		n    int
		what string
	}{
		{r.Replayed, "replayed"},
		{r.Recorded, "recorded"},
		{r.Passed, "passed on and not recorded"},
		{r.Missing, "without a recording"},
		{r.Failed, "failed"},
		{r.Refused, "refused"},
	} {
		if n.n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	if len(words) == 0 {
		words = append(words, "no request came")
	}
	line := strings.Join(words, ", ")
	if r.Unused > 0 {
		line += fmt.Sprintf("; %s not asked for", plain.Count(r.Unused, "recording was", "recordings were"))
	}
	_, err := fmt.Fprintf(a.err, "models: %s\n", line)
	return err
}
