// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"bufio"
	"context"
	"crypto/sha1" //nolint:gosec // the protocol requires it
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// frames is the client's side of a WebSocket (RFC 6455), as far as the check needs it. It uses no library, because a
// thousand clients share the processor with the measured server, and it shows the bytes that a server sends.
type frames struct {
	net.Conn
	r    *bufio.Reader
	part []byte
}

const (
	frameText  = 1
	frameClose = 8
	framePing  = 9
	framePong  = 10
	// frameMost bounds a message, in bytes.
	frameMost = 1 << 20
)

// dialFrames opens a WebSocket. narrow keeps the system from reading ahead.
func dialFrames(ctx context.Context, address, token string, narrow bool) (*frames, error) {
	u, err := url.Parse(address)
	if err != nil {
		return nil, err
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	if err != nil {
		return nil, err
	}
	f := &frames{Conn: conn, r: bufio.NewReaderSize(conn, 16<<10)}
	if err := f.open(ctx, u, token, narrow); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return f, nil
}

// open sends the handshake.
func (f *frames) open(ctx context.Context, u *url.URL, token string, narrow bool) error {
	if tcp, ok := f.Conn.(*net.TCPConn); ok && narrow {
		if err := tcp.SetReadBuffer(4 << 10); err != nil {
			return err
		}
	}
	if by, ok := ctx.Deadline(); ok {
		if err := f.SetDeadline(by); err != nil {
			return err
		}
	}
	const key = "dGhlIHNhbXBsZSBub25jZQ=="
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return err
	}
	req.Header = http.Header{
		"Authorization": {"Bearer " + token}, "Connection": {"Upgrade"}, "Upgrade": {"websocket"},
		"Sec-Websocket-Version": {"13"}, "Sec-Websocket-Key": {key},
	}
	if err := req.Write(f); err != nil {
		return err
	}
	res, err := http.ReadResponse(f.r, req)
	if err != nil {
		return err
	}
	defer res.Body.Close()                                                // it has none
	sum := sha1.Sum([]byte(key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11")) //nolint:gosec // as above
	if res.StatusCode != http.StatusSwitchingProtocols ||
		res.Header.Get("Sec-Websocket-Accept") != base64.StdEncoding.EncodeToString(sum[:]) {
		return fmt.Errorf("the server does not speak WebSocket: %s", res.Status)
	}
	return nil
}

// next returns the next message. It is valid until the following call.
func (f *frames) next() ([]byte, error) {
	for {
		kind, b, err := f.frame()
		switch {
		case err != nil:
			return nil, err
		case kind == frameText:
			return b, nil
		case kind == framePing:
			if err := f.pong(b); err != nil {
				return nil, err
			}
		case kind == framePong:
		case kind == frameClose && len(b) >= 2:
			return nil, fmt.Errorf("the server closes the socket: %d %s", binary.BigEndian.Uint16(b), b[2:])
		default:
			return nil, fmt.Errorf("a frame of kind %d", kind)
		}
	}
}

func (f *frames) frame() (kind byte, payload []byte, err error) {
	head, err := f.r.Peek(2)
	if err != nil {
		return 0, nil, err
	}
	kind, size, skip := head[0]&15, uint64(head[1]), 2
	if head[0]&0xf0 != 0x80 || size > 127 {
		return 0, nil, fmt.Errorf("a frame begins with %x: it is in parts, masked or in an extension", head)
	}
	switch size {
	case 126:
		skip = 4
	case 127:
		skip = 10
	}
	if head, err = f.r.Peek(skip); err != nil {
		return 0, nil, err
	}
	switch size {
	case 126:
		size = uint64(binary.BigEndian.Uint16(head[2:]))
	case 127:
		size = binary.BigEndian.Uint64(head[2:])
	}
	if size > frameMost {
		return 0, nil, fmt.Errorf("a frame of %d bytes", size)
	}
	if _, err := f.r.Discard(skip); err != nil {
		return 0, nil, err
	}
	if int(size) > cap(f.part) {
		f.part = make([]byte, size)
	}
	f.part = f.part[:size]
	_, err = io.ReadFull(f.r, f.part)
	return kind, f.part, err
}

// pong answers a ping. A client must mask its data; a mask of zeros is allowed.
func (f *frames) pong(b []byte) error {
	if len(b) > 125 {
		return fmt.Errorf("a ping of %d bytes", len(b))
	}
	_, err := f.Write(append([]byte{0x80 | framePong, 0x80 | byte(len(b)), 0, 0, 0, 0}, b...))
	return err
}
