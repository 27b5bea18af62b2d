// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package job

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/callvet/callvet"
)

// SecretPrefix is the beginning of the secret of a webhook.
const SecretPrefix = "whsec_"

// secretSize is how many bytes a secret has.
const secretSize = 32

// NewSecret draws the secret of a webhook.
func NewSecret(random io.Reader) (string, error) {
	b := make([]byte, secretSize)
	if _, err := io.ReadFull(random, b); err != nil {
		return "", fmt.Errorf("draw a secret: %w", err)
	}
	return SecretPrefix + base64.StdEncoding.EncodeToString(b), nil
}

// Sign sets the headers of a message in the form of Standard Webhooks: webhook-id,
// webhook-timestamp in seconds, and webhook-signature, the HMAC-SHA256 of "id.timestamp.body" in
// base64 after "v1,". A repeated message has the same id and a new timestamp. The error wraps
// callvet.ErrInvalid for a text that NewSecret did not make.
func Sign(h http.Header, secret, id string, at time.Time, body []byte) error {
	coded, ok := strings.CutPrefix(secret, SecretPrefix)
	key, err := base64.StdEncoding.DecodeString(coded)
	if !ok || err != nil || len(key) == 0 {
		return fmt.Errorf("sign message: %w: it is no secret of a webhook", callvet.ErrInvalid)
	}
	stamp := strconv.FormatInt(at.Unix(), 10)
	mac := hmac.New(sha256.New, key)
	_, _ = fmt.Fprintf(mac, "%s.%s.", id, stamp) // writing to a hash does not fail
	_, _ = mac.Write(body)
	h.Set("webhook-id", id)
	h.Set("webhook-timestamp", stamp)
	h.Set("webhook-signature", "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)))
	return nil
}

// Retry returns how long to wait after a number of attempts to send a message; ok is false if there
// is no further one. All attempts together take a day.
func Retry(attempts int) (wait time.Duration, ok bool) {
	waits := [...]time.Duration{
		5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
		6 * time.Hour, 10 * time.Hour,
	}
	if attempts < 1 || attempts > len(waits) {
		return 0, false
	}
	return waits[attempts-1], true
}
