// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// SecretSize is the number of bytes of the key that encrypts other keys.
const SecretSize = 32

// ProviderKey is a user's key of a provider, without its value.
type ProviderKey struct {
	// Variable is its name in targets, such as OPENAI_API_KEY.
	Variable string `json:"variable"`
	// Hint is the last characters of a long value, else "".
	Hint string `json:"hint"`
	// Hosts are where the key may be sent, with a port unless it is the default one. Settings, such
	// as OPENAI_BASE_URL, have none.
	Hosts []string `json:"hosts" nullable:"false"`
	// Near is Near of Kept.
	Near    bool      `json:"near,omitempty" doc:"no hosts were named: private addresses that an admin allows get it too"`
	Created time.Time `json:"created"`
	// Lost: the key was encrypted with a different secret key of the server, and must be set again.
	Lost bool `json:"lost"`
}

// Bounds of keys of providers.
const (
	maxProviderKeys = 50 // of one user
	maxKeyBytes     = 8 << 10
	hinted          = 4  // characters of the hint
	longEnough      = 16 // for a hint
)

// maxVariable is the most bytes of the name of a variable. A regular expression that counts so far is slow to compile,
// and each command would wait for it.
const maxVariable = 100

// variable is the form of a variable's name; keyWords are what one of them ends in.
var variable = regexp.MustCompile(`^[A-Z][A-Z0-9_]+$`)

func keyWords() []string {
	return []string{
		"KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS", "AUTHORIZATION", "BASE_URL",
		"HOST", "ENDPOINT",
	}
}

// IsKey reports whether a variable contains a key, which is bound to hosts, and not an address.
func IsKey(name string) bool {
	return !slices.ContainsFunc([]string{"BASE_URL", "HOST", "ENDPOINT"},
		func(w string) bool { return name == w || strings.HasSuffix(name, "_"+w) })
}

// ofVariable returns an error for names of variables that are not keys or settings of providers.
func ofVariable(name string) error {
	if len(name) > maxVariable || !variable.MatchString(name) ||
		!slices.ContainsFunc(keyWords(), func(w string) bool { return name == w || strings.HasSuffix(name, "_"+w) }) {
		return &callvet.FieldError{
			Field: "variable",
			Text: fmt.Sprintf("{variable} %q: write the name of a variable with A to Z, digits and _, that ends in %s",
				name, strings.Join(keyWords(), ", ")),
		}
	}
	return nil
}

// bound returns the context of an encrypted value: in the row of another user or variable it cannot
// be decrypted.
func bound(user, variable string) []byte {
	return []byte("provider key\x00" + user + "\x00" + variable)
}

// version is the first byte of a sealed value.
const version = 1

func (a *Accounts) gcm() (cipher.AEAD, error) {
	if len(a.cfg.Secret) == 0 {
		return nil, fmt.Errorf("%w: the server has no secret key, without which it keeps no keys of providers",
			callvet.ErrUnavailable)
	}
	block, err := aes.NewCipher(a.cfg.Secret)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// seal encrypts a value for its row.
func (a *Accounts) seal(user, variable, value string) ([]byte, error) {
	g, err := a.gcm()
	if err != nil {
		return nil, err
	}
	out := make([]byte, 1+g.NonceSize(), 1+g.NonceSize()+len(value)+g.Overhead())
	out[0] = version
	if _, err := io.ReadFull(a.cfg.Rand, out[1:]); err != nil {
		return nil, fmt.Errorf("draw a nonce: %w", err)
	}
	return g.Seal(out, out[1:], []byte(value), bound(user, variable)), nil
}

// errLost: a value cannot be decrypted.
var errLost = errors.New("it was sealed with another secret key of the server")

// open decrypts a value of seal.
func (a *Accounts) open(user, variable string, sealed []byte) (string, error) {
	g, err := a.gcm()
	if err != nil {
		return "", err
	}
	if len(sealed) < 1+g.NonceSize() || sealed[0] != version {
		return "", errLost
	}
	nonce, text := sealed[1:1+g.NonceSize()], sealed[1+g.NonceSize():]
	b, err := g.Open(nil, nonce, text, bound(user, variable))
	if err != nil {
		return "", errLost
	}
	return string(b), nil
}

// Kept is the decrypted key of a user for a provider.
type Kept struct {
	Value string `json:"value"`
	// Hosts are where it may be sent; nil for an address, and for a key of an earlier version.
	Hosts []string `json:"hosts"`
	// Near is set if the user named no hosts. Then the key may also be sent to private addresses
	// that an admin allows, such as a model server in the same network.
	Near bool `json:"near,omitempty"`
}

// packed is the prefix of a sealed value with hosts; values of an earlier version have no prefix
// and no control characters.
const packed = "\x00"

// pack returns the text to seal. It includes the hosts, so that a writer to the store cannot add
// one.
func (k Kept) pack() (string, error) {
	b, err := json.Marshal(k)
	return packed + string(b), err
}

// unpack is the reverse of pack.
func unpack(text string) (k Kept, err error) {
	rest, ok := strings.CutPrefix(text, packed)
	if !ok {
		return Kept{Value: text}, nil
	}
	return k, json.Unmarshal([]byte(rest), &k)
}

// openKey decrypts a key of a user.
func (a *Accounts) openKey(user, variable string, sealed []byte) (Kept, error) {
	text, err := a.open(user, variable, sealed)
	if err != nil {
		return Kept{}, err
	}
	return unpack(text)
}

// sealKey encrypts a key of a user for its row.
func (a *Accounts) sealKey(user, variable string, k Kept) ([]byte, error) {
	text, err := k.pack()
	if err != nil {
		return nil, err
	}
	return a.seal(user, variable, text)
}

// maxKeyHosts bounds Kept.Hosts.
const maxKeyHosts = 20

// hostsOf returns the hosts of a key in stored form; they may be empty if near is set.
func hostsOf(name string, hosts []string, near bool) ([]string, error) {
	switch {
	case !IsKey(name) && len(hosts) > 0:
		return nil, &callvet.FieldError{
			Field: "hosts",
			Text:  fmt.Sprintf("{hosts}: %s holds an address, and no key that could be sent: leave {hosts} out", name),
		}
	case !IsKey(name):
		return nil, nil
	case len(hosts) == 0 && !near:
		return nil, &callvet.FieldError{
			Field: "hosts",
			Text: fmt.Sprintf(
				"{hosts}: %s is the key of no provider with an address: name the hosts that it may be sent to", name),
			Fix: `write "hosts": ["agents.example.com"]`,
		}
	case len(hosts) > maxKeyHosts:
		return nil, &callvet.FieldError{Field: "hosts", Text: fmt.Sprintf("{hosts}: at most %d", maxKeyHosts)}
	}
	out := make([]string, 0, len(hosts))
	for _, h := range hosts {
		h, err := hostAndPort(h)
		if err != nil {
			return nil, err
		}
		out = append(out, h)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// hostAndPort normalizes a host with its port, if any, to the form of requests.
func hostAndPort(text string) (string, error) {
	name, port, err := net.SplitHostPort(strings.TrimSpace(text))
	if err != nil {
		name, port = text, ""
	}
	if name, err = Host(name); err == nil && port != "" {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return "", &callvet.FieldError{
			Field: "hosts", Text: fmt.Sprintf("{hosts}: %q is no host", text),
			Fix: "write it without scheme and path, such as models.internal or localhost:8000",
		}
	}
	switch {
	case port != "":
		return net.JoinHostPort(name, port), nil
	case strings.Contains(name, ":"):
		return "[" + name + "]", nil
	}
	return name, nil
}

// SetProviderKey stores a key of a user, encrypted together with its hosts, and replaces an earlier
// one.
func (a *Accounts) SetProviderKey(ctx context.Context, by *Principal, name string,
	kept Kept,
) (k ProviderKey, err error) {
	if err := ofVariable(name); err != nil {
		return k, err
	}
	kept.Value = strings.TrimSpace(kept.Value)
	if kept.Value == "" || len(kept.Value) > maxKeyBytes || strings.ContainsFunc(kept.Value, unicode.IsControl) {
		return k, &callvet.FieldError{
			Field: "value",
			Text:  fmt.Sprintf("{value} has 1 to %d bytes, in one line", maxKeyBytes),
		}
	}
	if kept.Hosts, err = hostsOf(name, kept.Hosts, kept.Near); err != nil {
		return k, err
	}
	sealed, err := a.sealKey(by.User, name, kept)
	if err != nil {
		return k, fmt.Errorf("keep %s: %w", name, err)
	}
	now := a.now()
	kept.Near = kept.Near && IsKey(name)
	k = ProviderKey{Variable: name, Hosts: append([]string{}, kept.Hosts...), Near: kept.Near, Created: at(now)}
	if r := []rune(kept.Value); len(r) >= longEnough {
		k.Hint = string(r[len(r)-hinted:])
	}
	err = a.change(ctx, "keep key", func(q *rows.Queries) error {
		if _, err := a.present(ctx, q, by.User); err != nil {
			return err
		}
		list, err := q.ProviderKeysOf(ctx, by.User)
		if err != nil {
			return err
		}
		if len(list) >= maxProviderKeys &&
			!slices.ContainsFunc(list, func(r rows.ProviderKeysOfRow) bool { return r.Variable == name }) {
			return fmt.Errorf("keep %s: %w: there are %d keys: delete one", name, callvet.ErrConflict, len(list))
		}
		err = q.PutProviderKey(ctx,
			rows.PutProviderKeyParams{UserID: by.User, Variable: name, Sealed: sealed, Hint: k.Hint, Created: now})
		return errors.Join(err, a.Record(ctx, q, by, "key.set", name, map[string]any{"hosts": k.Hosts}))
	})
	if err == nil {
		a.touch(by.User)
	}
	return k, err
}

// BindKeys sets the hosts of keys of earlier versions, which had none: hosts returns those of each
// variable, by the values of its user. A key of an unknown variable has no host until its user sets
// it again.
func (a *Accounts) BindKeys(ctx context.Context, hosts func(kept map[string]string) map[string][]string) error {
	list, err := a.cfg.Store.Rows().AllProviderKeys(ctx)
	if err != nil {
		return fmt.Errorf("read keys: %w", err)
	}
	values := map[string]map[string]string{}
	var loose []rows.AllProviderKeysRow
	for _, r := range list {
		k, err := a.openKey(r.UserID, r.Variable, r.Sealed)
		if err != nil {
			continue // it is lost, and is listed as lost
		}
		if values[r.UserID] == nil {
			values[r.UserID] = map[string]string{}
		}
		values[r.UserID][r.Variable] = k.Value
		if k.Hosts == nil && IsKey(r.Variable) {
			loose = append(loose, r)
		}
	}
	if len(loose) == 0 {
		return nil
	}
	return a.change(ctx, "bind keys", func(q *rows.Queries) error {
		for _, r := range loose {
			k := Kept{
				Value: values[r.UserID][r.Variable],
				Hosts: append([]string{}, hosts(values[r.UserID])[r.Variable]...), Near: true,
			}
			sealed, err := a.sealKey(r.UserID, r.Variable, k)
			if err != nil {
				return err
			}
			if err := q.SetSealedProviderKey(ctx, rows.SetSealedProviderKeyParams{
				UserID:   r.UserID,
				Variable: r.Variable, Sealed: sealed,
			}); err != nil {
				return err
			}
			if err := a.Record(ctx, q, nil, "key.bind", r.Variable,
				map[string]any{"user": r.UserID, "hosts": k.Hosts}); err != nil {
				return err
			}
			if len(k.Hosts) == 0 {
				a.cfg.Log.WarnContext(ctx,
					"a key is sent to no public host before its user gives it again, with its hosts", "user", r.UserID,
					"variable", r.Variable)
			}
		}
		return nil
	})
}

// ProviderKeys lists the keys of a user by variable, without their values.
func (a *Accounts) ProviderKeys(ctx context.Context, user string) ([]ProviderKey, error) {
	list, err := a.cfg.Store.Rows().ProviderKeysOf(ctx, user)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	out := make([]ProviderKey, len(list))
	for i := range list {
		r := &list[i]
		k, err := a.openKey(user, r.Variable, r.Sealed)
		out[i] = ProviderKey{
			Variable: r.Variable, Hint: r.Hint, Hosts: append([]string{}, k.Hosts...), Near: k.Near,
			Created: at(r.Created), Lost: err != nil,
		}
	}
	return out, nil
}

// DropProviderKey deletes a key of a user.
func (a *Accounts) DropProviderKey(ctx context.Context, by *Principal, name string) error {
	err := a.change(ctx, "delete key", func(q *rows.Queries) error {
		n, err := q.DropProviderKey(ctx, rows.DropProviderKeyParams{UserID: by.User, Variable: name})
		if err := one(n, err, "key", name); err != nil {
			return err
		}
		return a.Record(ctx, q, by, "key.delete", name, nil)
	})
	if err == nil {
		a.touch(by.User)
	}
	return err
}

// Opened returns a user's decrypted keys by variable. Keys that cannot be decrypted are left out
// and logged.
func (a *Accounts) Opened(ctx context.Context, user string) (map[string]Kept, error) {
	list, err := a.cfg.Store.Rows().ProviderKeysOf(ctx, user)
	if err != nil {
		return nil, fmt.Errorf("read keys: %w", err)
	}
	out := make(map[string]Kept, len(list))
	for i := range list {
		k, err := a.openKey(user, list[i].Variable, list[i].Sealed)
		if err != nil {
			a.cfg.Log.WarnContext(ctx, "a key of a provider cannot be read", "user", user, "variable", list[i].Variable,
				"error", err)
			continue
		}
		out[list[i].Variable] = k
	}
	return out, nil
}

// Seal encrypts a secret of an object, such as that of a webhook, for its row; OpenSealed decrypts it.
func (a *Accounts) Seal(object, secret string) ([]byte, error) {
	return a.seal("", object, secret) // no user has an empty id
}

// OpenSealed decrypts a secret that Seal made for the object.
func (a *Accounts) OpenSealed(object string, sealed []byte) (string, error) {
	return a.open("", object, sealed)
}

// LostKeys counts the keys of all users that the secret key of this server does not decrypt.
func (a *Accounts) LostKeys(ctx context.Context) (lost, all int, err error) {
	list, err := a.cfg.Store.Rows().AllProviderKeys(ctx)
	if err != nil {
		return 0, 0, fmt.Errorf("read keys: %w", err)
	}
	for i := range list {
		if _, err := a.open(list[i].UserID, list[i].Variable, list[i].Sealed); err != nil {
			lost++
		}
	}
	return lost, len(list), nil
}

// Rekeyed counts the results of Rekey: secrets that are encrypted with the new key, and those that
// stay lost because the old key did not decrypt them.
type Rekeyed struct{ Sealed, Lost int }

// Rekey encrypts all keys of providers and all secrets of webhooks with a new key, in one
// transaction. These Accounts cannot decrypt them afterwards. The error wraps callvet.ErrInvalid if
// they cannot decrypt any of them before.
func (a *Accounts) Rekey(ctx context.Context, secret []byte) (out Rekeyed, err error) {
	cfg := a.cfg
	cfg.Secret = secret
	to, err := New(cfg)
	if err != nil {
		return out, err
	}
	again := func(user, name string, sealed []byte, put func([]byte) error) error {
		value, err := a.open(user, name, sealed)
		if errors.Is(err, errLost) {
			out.Lost++
			return nil
		}
		if err == nil {
			sealed, err = to.seal(user, name, value)
		}
		if err != nil {
			return err
		}
		out.Sealed++
		return put(sealed)
	}
	err = a.change(ctx, "rekey", func(q *rows.Queries) error {
		keys, err := q.AllProviderKeys(ctx)
		if err != nil {
			return err
		}
		for i := range keys {
			k := &keys[i]
			err := again(k.UserID, k.Variable, k.Sealed, func(b []byte) error {
				return q.SetSealedProviderKey(ctx,
					rows.SetSealedProviderKeyParams{UserID: k.UserID, Variable: k.Variable, Sealed: b})
			})
			if err != nil {
				return err
			}
		}
		hooks, err := q.SealedOfSchedules(ctx)
		if err != nil {
			return err
		}
		for i := range hooks {
			h := &hooks[i]
			err := again("", h.ID, h.Secret, func(b []byte) error {
				return q.SetSealedOfSchedule(ctx, rows.SetSealedOfScheduleParams{ID: h.ID, Secret: b})
			})
			if err != nil {
				return err
			}
		}
		if out.Sealed == 0 && out.Lost > 0 { // the key is wrong, and the right one may exist
			return fmt.Errorf("%w: the old key opens none of the secrets that are kept (%d)",
				callvet.ErrInvalid, out.Lost)
		}
		return a.Record(ctx, q, nil, "rekey", "", map[string]any{"sealed": out.Sealed, "lost": out.Lost})
	})
	return out, err
}
