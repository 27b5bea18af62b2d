// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestOneServer: of two servers on one database the second is refused, and other commands are not.
// A killed server blocks no other. One that is asked to end does so with exit code 0; asked twice,
// it does not wait for a request that is under way.
func TestOneServer(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	writeFiles(t, dir,
		map[string]string{"suite.yaml": string(readFile(t, filepath.Join("..", "..", "examples"), "weather.yaml"))})
	serve := func() *proc {
		p := begin(t, dir, "serve", "--listen", "127.0.0.1:0")
		p.says(t, "serving http://")
		return p
	}
	first := serve()
	second := begin(t, dir, "serve", "--listen", "127.0.0.1:0")
	second.ends(t, exitUsage)
	if said := second.errs.String(); !strings.Contains(said,
		fmt.Sprintf("is being served by a server: process %d on ", first.Process.Pid)) ||
		!strings.Contains(said, "try: end that server first") {
		t.Errorf("a second server: %s", said)
	}
	link := filepath.Join(t.TempDir(), "link.db")
	if err := os.Symlink(filepath.Join(dir, "runs.db"), link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		code int
		args []string
	}{
		{exitUsage, []string{"serve", "--listen", "127.0.0.1:0", "--db", link}},
		{exitOK, []string{"serve", "--help"}},
		{exitOK, []string{"run", "suite.yaml", "-m", "offline/lexical", "-q"}},
		{exitOK, []string{"show", "last"}},
		{exitOK, []string{"runs"}},
		{exitOK, []string{"backup", "copy.db"}},
		{exitUsage, []string{"restore", "copy.db", "--force"}},
		{exitOK, []string{"doctor"}},
	} {
		begin(t, dir, c.args...).ends(t, c.code)
	}
	if err := first.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = first.Wait() // it was killed

	begin(t, dir, "restore", "copy.db", "--force").ends(t, exitOK)
	third := serve()
	if err := third.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if third.ends(t, exitOK); !strings.HasSuffix(third.errs.String(), "callvet: interrupted; the server has ended\n") {
		t.Errorf("it ended: %s", third.errs.String())
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*.server")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v %v", left, err)
	}

	fourth := serve()
	base := regexp.MustCompile(`serving http://(\S+) `).FindStringSubmatch(fourth.errs.String())[1]
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", base)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := fmt.Fprintf(conn,
		"POST /api/session HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\nExpect: 100-continue\r\n\r\n", base); err != nil {
		t.Fatal(err)
	}
	if _, err := conn.Read(make([]byte, 1)); err != nil { // the server waits for the body now
		t.Fatal(err)
	}
	if err := fourth.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	refused := func() bool {
		c, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", base)
		if err == nil {
			_ = c.Close()
		}
		return err != nil
	}
	for !refused() { // until the first signal has come
		time.Sleep(time.Millisecond)
	}
	if err := fourth.Process.Signal(syscall.SIGINT); err != nil {
		t.Fatal(err)
	}
	fourth.ends(t, exitInterrupted)
}
