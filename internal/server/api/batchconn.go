// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

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
	// batchSize bounds the bytes that wait while several messages are written.
	batchSize = 32 << 10
	// socketBuffer bounds the system's send buffer for a client that does not read, in bytes. The
	// default is megabytes.
	socketBuffer = 128 << 10
)

// batchConn is the connection of a WebSocket; it can collect several messages and write them at
// once. Each event goes to each client of a user, and one system call for each message would take
// too much processor time from the run. A write takes at most patience.
type batchConn struct {
	net.Conn

	mu   sync.Mutex
	on   bool
	held []byte
}

// Write sends b, or adds it to the batch.
func (c *batchConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return c.send(b)
	}
	if len(c.held)+len(b) > batchSize {
		if err := c.release(); err != nil {
			return 0, err
		}
	}
	if len(b) > batchSize {
		return c.send(b)
	}
	c.held = append(c.held, b...)
	return len(b), nil
}

func (c *batchConn) send(b []byte) (int, error) {
	if err := c.Conn.SetWriteDeadline(time.Now().Add(patience)); err != nil {
		return 0, err
	}
	return c.Conn.Write(b)
}

func (c *batchConn) release() error {
	if len(c.held) == 0 {
		return nil
	}
	_, err := c.send(c.held)
	c.held = c.held[:0]
	return err
}

// hold collects writes until let is called.
func (c *batchConn) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = true
}

// let sends the batch; later writes are sent at once.
func (c *batchConn) let() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.on = false
	return c.release()
}

// batchResponse is a response; its hijacked connection is a batchConn.
type batchResponse struct {
	http.ResponseWriter
	conn *batchConn
}

// Hijack implements http.Hijacker.
func (w *batchResponse) Hijack() (net.Conn, *bufio.ReadWriter, error) {
	c, rw, err := http.NewResponseController(w.ResponseWriter).Hijack()
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(rw.Flush(), narrow(c)); err != nil {
		return nil, nil, errors.Join(err, c.Close())
	}
	w.conn = &batchConn{Conn: c}
	return w.conn, bufio.NewReadWriter(rw.Reader, bufio.NewWriter(w.conn)), nil
}

// narrow bounds the system's send buffer of a TCP connection.
func narrow(c net.Conn) error {
	if over, ok := c.(*tls.Conn); ok {
		c = over.NetConn()
	}
	if tcp, ok := c.(*net.TCPConn); ok {
		return tcp.SetWriteBuffer(socketBuffer)
	}
	return nil
}
