// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"bufio"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"sync"
	"time"
)

const (
	// corkSize is how much is held back at most while several messages are written, in bytes.
	corkSize = 32 << 10
	// socketBuffer bounds what the system holds for a client that does not read, in bytes. By itself it
	// takes megabytes.
	socketBuffer = 128 << 10
)

// cork is the connection of a socket that can hold messages back until there are several. The same event goes to
// each client of a user, and a call of the system for each one would take the processor from the run.
// What is sent takes patience at most.
type cork struct {
	net.Conn

	mu   sync.Mutex
	on   bool
	held []byte
}

// Write sends b, or holds it back.
func (c *cork) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return c.send(b)
	}
	if len(c.held)+len(b) > corkSize {
		if err := c.release(); err != nil {
			return 0, err
		}
	}
	if len(b) > corkSize {
		return c.send(b)
	}
	c.held = append(c.held, b...)
	return len(b), nil
}

func (c *cork) send(b []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *cork) release() error {
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.send(c.held)
	c.held = c.held[:0]
	return err
}

// hold holds back what is written from now on, until let is called.
func (c *cork) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = true
}

// let sends what was held back, and from now on all at once.
func (c *cork) let() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = false
	return c.release()
}

// corkable is a response whose connection, once it is taken over, is a cork.
type corkable struct {
	http.ResponseWriter
	conn *cork
}

// Hijack implements http.Hijacker.
func (w *corkable) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(rw.Flush(), narrow(c)); err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	w.conn = &cork{Conn: c}
	return w.conn, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(w.conn)), nil
}

// narrow bounds what the system holds for a connection, where it is one of TCP.
func narrow(c net.Conn) error {
	if over, ok := c.(*tls.Conn); ok {
		c = over.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return tcp.SetWriteBuffer(socketBuffer)
	}
	return nil
}
