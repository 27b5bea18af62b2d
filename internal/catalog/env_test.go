// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package catalog

import (
	"io/fs"
	"strings"
	"testing"
)

// memory are files in memory.
type memory map[string]string

// Read implements Files.
func (m memory) Read(name string, _ int64) ([]byte, error) {
	if s, ok := m[name]; ok {
		return []byte(s), nil
	}
	return nil, fs.ErrNotExist
}

// A service only gets k; a search with more settings is refused.
func TestService(t *testing.T) {
	t.Parallel()
	e := &Env{Files: memory{"w.json": `{"retrieval":{"vector":0.5}}`}}
	for _, c := range []struct {
		search Search
		say    string
	}{
		{Search{Via: "http://h/x", Settings: Settings{K: 3}}, ""},
		{Search{Via: "http://${HOST}/x?key=${KEY}", Tools: "c.json"}, ""},
		{Search{Via: "localhost:8000/x"}, "is no address"},
		{Search{Via: "https:///x"}, "is no address"},
		{Search{Via: "c.json"}, "is no address"},
		{Search{Via: "http://h", Settings: Settings{Preset: "bigtool"}}, "takes no preset"},
		{Search{Via: "http://h", Settings: Settings{Threshold: 0.1}}, "takes no threshold"},
		{Search{Via: "http://h", Settings: Settings{Embed: "x"}}, "takes no embed"},
		{Search{Via: "http://h", Settings: Settings{Routes: "none"}}, "takes no routes"},
		{Search{Via: "http://h", AbstainOn: "s"}, "takes no abstain_on"},
		{Search{Via: "http://h", WeightsFile: "w.json"}, "weights of retrieval in w.json"},
	} {
		_, err := e.Ready(t.Context(), &c.search, "")
		if (err == nil) != (c.say == "") || err != nil && !strings.Contains(err.Error(), c.say) {
			t.Errorf("%+v: %v", c.search, err)
		}
	}
}
