// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
	"cmp"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/store/rows"
)

// Allowed lists the permissions of the work of users beyond asking models at public addresses.
// Nothing, by default.
type Allowed struct {
	// Private lets requests go to every address: of this machine, of private networks.
	Private bool `json:"private_addresses"`
	// Hosts are names and addresses that may be private.
	Hosts []string `json:"private_hosts"`
	// ServerKeys lets users without a key of a provider use the server's own.
	ServerKeys bool `json:"server_keys"`
	// Files lets targets read files of the folder that the server was started with (script:,
	// recorded:), and Commands lets them be commands (exec:). Only flags of the server allow these,
	// no settings.
	Files    bool `json:"files"`
	Commands bool `json:"commands"`
	Models
}

// Models are the defaults for requests that need a model and name none.
type Models struct {
	// Embedder compares texts in mode semantic, such as openai/text-embedding-3-small.
	Embedder string `json:"embedder,omitempty" maxLength:"200" doc:"compares texts in mode semantic where a run names no model, such as openai/text-embedding-3-small"`
	// Embed makes the vectors of catalogues and questions, and Rerank orders the best tools, such as
	// tei:URL.
	Embed  string `json:"embed,omitempty" maxLength:"500" doc:"makes the vectors of a search that names no model, such as openai:text-embedding-3-small or tei:URL"`
	Rerank string `json:"rerank,omitempty" maxLength:"500" doc:"orders the best tools of a search that names no model, such as cohere:MODEL or tei:URL"`
}

// or fills in unset fields from others.
func (m Models) or(others Models) Models {
	return Models{cmp.Or(m.Embedder, others.Embedder), cmp.Or(m.Embed, others.Embed), cmp.Or(m.Rerank, others.Rerank)}
}

// Check returns an error for a text without the form of a model's name.
func (m Models) Check() error {
	for _, f := range []struct{ field, value, mark, example string }{
		{"embedder", m.Embedder, "/", "openai/text-embedding-3-small"},
		{"embed", m.Embed, ":", "openai:text-embedding-3-small"},
		{"rerank", m.Rerank, ":", "cohere:rerank-v3.5"},
	} {
		if before, after, ok := strings.Cut(f.value, f.mark); f.value != "" && (!ok || before == "" || after == "") {
			return &callvet.FieldError{
				Field: f.field, Text: fmt.Sprintf("{%s}: %q names no model", f.field, f.value),
				Fix: "write it as in " + f.example,
			}
		}
	}
	return nil
}

// plus returns the permissions of both; the models of b take precedence.
func (a Allowed) plus(b Allowed) Allowed {
	hosts := slices.Concat(a.Hosts, b.Hosts)
	slices.Sort(hosts)
	return Allowed{
		Private: a.Private || b.Private, Hosts: append([]string{}, slices.Compact(hosts)...),
		ServerKeys: a.ServerKeys || b.ServerKeys,
		Files:      a.Files || b.Files, Commands: a.Commands || b.Commands, Models: b.Models.or(a.Models),
	}
}

// Settings are the permissions that admins set.
type Settings struct {
	Private    bool     `json:"private_addresses"`
	Hosts      []string `json:"private_hosts"`
	ServerKeys bool     `json:"server_keys"`
	Models
}

// settingName is the name of the row of Settings.
const settingName = "security"

// maxHosts bounds Settings.Hosts.
const maxHosts = 200

// maxHost is the most bytes of the name of a host, and host is its form.
const maxHost = 253

var host = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$`)

// Host returns the name or the address of a host in the form of Allowed.
func Host(h string) (string, error) {
	h = strings.TrimSuffix(strings.ToLower(strings.Trim(strings.TrimSpace(h), "[]")), ".")
	if _, err := netip.ParseAddr(h); err != nil && (len(h) > maxHost || !host.MatchString(h)) {
		return "", &callvet.FieldError{
			Field: "private_hosts",
			Text:  fmt.Sprintf("{private_hosts}: %q is neither a name nor an address", h),
			Fix:   "write it without scheme and port, such as models.internal",
		}
	}
	return h, nil
}

// Settings returns the settings of admins; everything is off if there are none.
func (a *Accounts) Settings(ctx context.Context) (Settings, error) {
	s := Settings{Hosts: []string{}}
	b, err := a.cfg.Store.Rows().Setting(ctx, settingName)
	if errors.Is(err, sql.ErrNoRows) {
		return s, nil
	}
	if err == nil {
		err = json.Unmarshal(b, &s)
	}
	if err != nil {
		return s, fmt.Errorf("read settings: %w", err)
	}
	return s, nil
}

// SetSettings changes the settings of admins, and returns them as they are stored.
func (a *Accounts) SetSettings(ctx context.Context, by *Principal, s Settings) (Settings, error) {
	if err := s.Check(); err != nil {
		return s, err
	}
	hosts := make([]string, 0, len(s.Hosts))
	for _, h := range s.Hosts {
		h, err := Host(h)
		if err != nil {
			return s, err
		}
		hosts = append(hosts, h)
	}
	slices.Sort(hosts)
	if s.Hosts = slices.Compact(hosts); len(s.Hosts) > maxHosts {
		return s, &callvet.FieldError{
			Field: "private_hosts",
			Text:  fmt.Sprintf("{private_hosts}: at most %d", maxHosts),
		}
	}
	b, err := json.Marshal(s)
	if err != nil {
		return s, fmt.Errorf("write settings: %w", err)
	}
	err = a.change(ctx, "change settings", func(q *rows.Queries) error {
		if err := q.PutSetting(ctx, rows.PutSettingParams{Name: settingName, Value: b}); err != nil {
			return err
		}
		return a.Record(ctx, q, by, "settings.change", settingName, s)
	})
	if err == nil {
		a.touch("")
	}
	return s, err
}

// Allowed returns the current permissions of the work of users, by the flags of the server and by
// its settings.
func (a *Accounts) Allowed(ctx context.Context) (Allowed, error) {
	s, err := a.Settings(ctx)
	if err != nil {
		return Allowed{}, err
	}
	return a.cfg.Allowed.plus(Allowed{Private: s.Private, Hosts: s.Hosts, ServerKeys: s.ServerKeys, Models: s.Models}),
		nil
}
