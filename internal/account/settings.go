// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

import (
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

// Allowed is what the work of users may do beyond asking models at public addresses. Nothing, by
// default.
type Allowed struct {
	// Private lets requests go to every address: of this machine, of private networks.
	Private bool `json:"private_addresses"`
	// Hosts are names and addresses that may be private: they are asked wherever they lead.
	Hosts []string `json:"private_hosts"`
	// ServerKeys lets users without a key of a provider use the server's own.
	ServerKeys bool `json:"server_keys"`
	// Files lets targets read files of the folder that the server was started with (script:,
	// recorded:), and Commands lets them be commands (exec:). Who starts the server allows these;
	// no setting does.
	Files    bool `json:"files"`
	Commands bool `json:"commands"`
}

// plus is what either allows.
func (a Allowed) plus(b Allowed) Allowed {
	hosts := slices.Concat(a.Hosts, b.Hosts)
	slices.Sort(hosts)
	return Allowed{
		Private: a.Private || b.Private, Hosts: append([]string{}, slices.Compact(hosts)...), ServerKeys: a.ServerKeys || b.ServerKeys,
		Files: a.Files || b.Files, Commands: a.Commands || b.Commands,
	}
}

// Settings are what admins allow.
type Settings struct {
	Private    bool     `json:"private_addresses"`
	Hosts      []string `json:"private_hosts"`
	ServerKeys bool     `json:"server_keys"`
}

// settingName is the row of Settings.
const settingName = "security"

// maxHosts bounds Settings.Hosts.
const maxHosts = 200

// host is the form of a name.
var host = regexp.MustCompile(`^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$`)

// Host gives the name or the address of a host, as Allowed has it.
func Host(h string) (string, error) {
	h = strings.TrimSuffix(strings.ToLower(strings.Trim(strings.TrimSpace(h), "[]")), ".")
	if _, err := netip.ParseAddr(h); err != nil && !host.MatchString(h) {
		return "", &callvet.FieldError{Field: "private_hosts", Text: fmt.Sprintf("{private_hosts}: %q is neither a name nor an address", h), Fix: "write it without scheme and port, such as models.internal"}
	}
	return h, nil
}

// Settings are those of admins; all is off where none were made.
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

// SetSettings changes what admins allow, and gives it as it is kept.
func (a *Accounts) SetSettings(ctx context.Context, by *Principal, s Settings) (Settings, error) {
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
		return s, &callvet.FieldError{Field: "private_hosts", Text: fmt.Sprintf("{private_hosts}: at most %d", maxHosts)}
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

// Allowed is what the work of users may do now: by the flags of the server, and by its settings.
func (a *Accounts) Allowed(ctx context.Context) (Allowed, error) {
	s, err := a.Settings(ctx)
	if err != nil {
		return Allowed{}, err
	}
	return a.cfg.Allowed.plus(Allowed{Private: s.Private, Hosts: s.Hosts, ServerKeys: s.ServerKeys}), nil
}
