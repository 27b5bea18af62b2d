// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/store"
)

// planted is one kind of secret: its form in a text, and the part of it that must not be found
// anywhere.
type planted struct{ kind, text, core string }

const (
	small    = "abcdefghijkmnopqrstuvwxyz"
	large    = "ABCDEFGHJKLMNPQRSTUVWXYZ"
	figures  = "23456789"
	hexed    = "0123456789abcdef"
	anything = small + large + figures
)

// plant makes more than 60 kinds of secrets. They are drawn here, so that no scanner takes
// this file for a leak, and drawn again alike.
func plant() []planted {
	rng := rand.New(rand.NewPCG(4, 2))
	draw := func(from string, n int) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[rng.IntN(len(from))]
		}
		b[n/2], b[n/3] = figures[rng.IntN(len(figures))], from[rng.IntN(len(from))] // at least one figure
		return string(b)
	}
	var out []planted
	add := func(kind, before, core, after string) { out = append(out, planted{kind, before + core + after, core}) }
	for _, k := range []struct {
		kind, prefix, from string
		n                  int
	}{
		{"openai", "sk-", anything, 40},
		{"openai project", "sk-proj-", anything, 60},
		{"anthropic", "sk-ant-api03-", anything, 80},
		{"openrouter", "sk-or-v1-", hexed, 64},
		{"stripe live", "sk_live_", anything, 24},
		{"stripe restricted", "rk_live_", anything, 24},
		{"stripe webhook", "whsec_", anything, 32},
		{"github", "ghp_", anything, 36},
		{"github oauth", "gho_", anything, 36},
		{"github server", "ghs_", anything, 36},
		{"github fine", "github_pat_", anything, 60},
		{"gitlab", "glpat-", anything, 20},
		{"aws id", "AKIA", large + figures, 16},
		{"aws temporary id", "ASIA", large + figures, 16},
		{"google", "AIza", anything, 35},
		{"google oauth", "GOCSPX-", anything, 28},
		{"google access", "ya29.", anything, 60},
		{"slack bot", "xoxb-", anything, 40},
		{"slack user", "xoxp-", anything, 40},
		{"slack app", "xapp-", anything, 40},
		{"huggingface", "hf_", anything, 34},
		{"npm", "npm_", anything, 36},
		{"pypi", "pypi-", anything, 60},
		{"docker", "dckr_pat_", anything, 27},
		{"groq", "gsk_", anything, 52},
		{"xai", "xai-", anything, 60},
		{"replicate", "r8_", anything, 37},
		{"nvidia", "nvapi-", anything, 60},
		{"langsmith", "lsv2_pt_", hexed, 40},
		{"digitalocean", "dop_v1_", hexed, 64},
		{"shopify", "shpat_", hexed, 32},
		{"atlassian", "ATATT3", anything, 60},
		{"notion", "ntn_", anything, 46},
		{"linear", "lin_api_", anything, 40},
		{"sentry", "sntrys_", anything, 50},
		{"vault", "hvs.", anything, 40},
		{"postman", "PMAK-", anything, 40},
		{"grafana", "glsa_", anything, 40},
		{"databricks", "dapi", hexed, 32},
		{"google refresh", "1//0g", anything, 60},
		{"fireworks", "fw_", anything, 24},
		{"twilio", "SK", hexed, 32},
		{"new relic", "NRAK-", large + figures, 27},
		{"supabase", "sbp_", hexed, 40},
		{"together", "tgp_v1_", anything, 40},
		{"pinecone", "pcsk_", anything, 50},
		{"tailscale", "tskey-auth-", anything, 40},
		{"netlify", "nfp_", anything, 36},
		{"dynatrace", "dt0c01.", large + figures, 60},
	} {
		add(k.kind, k.prefix, draw(k.from, k.n), "")
	}
	add("airtable", "pat"+draw(anything, 14)+".", draw(hexed, 64), "")
	add("teams webhook", "https://x.webhook.office.com/webhookb2/", draw(hexed, 32), "@y/IncomingWebhook/z")
	add("option of a token", "curl --token ", draw(anything, 30), " https://x.test")
	add("subscription key", "Ocp-Apim-Subscription-Key: ", draw(hexed, 32), "")
	add("sendgrid", "SG."+draw(anything, 22)+".", draw(anything, 43), "")
	add("telegram", "123456789:AA", draw(anything, 33), "")
	add("slack webhook", "https://hooks.slack.com/services/T0"+draw(large+figures, 8)+"/B0"+draw(large+figures, 8)+"/",
		draw(anything, 24), "")
	add("discord webhook", "https://discord.com/api/webhooks/"+draw(figures, 18)+"/", draw(anything, 60), "")
	jwt := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"HS256"}`)) + "." +
		base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"4711"}`)) + "."
	add("jwt", jwt, draw(anything, 43), "")
	add("private key", "-----BEGIN RSA PRIVATE "+"KEY-----\n", draw(anything, 64), "\n-----END RSA PRIVATE "+"KEY-----")
	add("bearer", "Authorization: Bearer ", draw(anything, 40), "")
	add("basic", "Authorization: Basic ",
		base64.RawStdEncoding.EncodeToString([]byte("bob7:" + draw(anything, 20)))[:32], "")
	add("password", "DB_PASSWORD=", draw(anything, 20), "")
	add("client secret", `"client_secret": "`, draw(anything, 32), `"`)
	add("url", "postgres://bob:", draw(anything, 20), "@db.test/x")
	add("aws secret", "aws_secret_access_key = ", draw(anything, 40), "")
	add("azure account", "DefaultEndpointsProtocol=https;AccountKey=", draw(anything, 60), ";EndpointSuffix=core.test")
	add("signed url", "https://s.test/o?X-Amz-Signature=", draw(hexed, 64), "&x=1")
	add("cookie", "Cookie: sid=", draw(anything, 32), "")
	add("option", "--api-key ", draw(anything, 32), "")
	return out
}

// leaks lists the secrets that are anywhere in a folder (store, write-ahead log, caches, reports),
// in the output, and in the answers of the store.
func leaks(t *testing.T, dir, printed string, ps []planted) (out []string) {
	t.Helper()
	places := map[string]string{"output": printed}
	err := filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || strings.HasPrefix(e.Name(), "in-") { // what the user wrote
			return err
		}
		b, err := os.ReadFile(path)
		places[e.Name()] = string(b)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	places["the store's tables"] = storeTells(t, filepath.Join(dir, "runs.db"))
	for _, p := range ps {
		for where, text := range places {
			if strings.Contains(text, p.core) {
				at := strings.Index(text, p.core)
				out = append(out,
					fmt.Sprintf("%s in %s: …%q", p.kind, where, text[max(0, at-60):min(len(text), at+len(p.core)+10)]))
			}
		}
	}
	return out
}

// storeTells is all that the store returns: a value may be cut into pages in the file.
func storeTells(t *testing.T, path string) string {
	t.Helper()
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	db, err := store.Open(t.Context(), path, store.Options{ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	runs, err := db.Runs(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	all := []any{runs}
	for i := range runs {
		s, err := db.Suite(t.Context(), runs[i].SuiteHash)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
		for c, err := range db.Cells(t.Context(), runs[i].ID, store.Filter{Exchanges: true}) {
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, c, c.Trace.Exchanges)
		}
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// suiteOf has one case for each secret, which asks for it by number.
func suiteOf(n int) string {
	var cases []string
	for i := range n {
		cases = append(cases,
			fmt.Sprintf(
				`{"id":"c%d","prompt":"give me number %d.","expected_tool":"note","expected_params":{"text":"nothing"}}`, i, i))
	}
	return `{"name":"s","tools":[{"name":"note","parameters":{"type":"object","properties":{"text":{"type":"string"}}}}],"cases":[` + strings.Join(cases, ",") + `]}`
}

// number is the secret that a request asks for.
func number(r *http.Request) int {
	body, _ := io.ReadAll(r.Body)
	n := 0
	_, rest, _ := strings.Cut(string(body), "give me number ")
	_, _ = fmt.Sscanf(rest, "%d.", &n)
	return n
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

// look runs every command that shows a run, and returns what they print.
func look(t *testing.T, dir string, env map[string]string, ps []planted) string {
	t.Helper()
	var all strings.Builder
	run := func(args ...string) {
		a, out, errs := newApp(dir, env)
		a.run(t.Context(), a.rootCommand(), args)
		all.WriteString(out.String() + errs.String())
	}
	run("show", "last", "--all")
	run("show", "last", "--json")
	run("show", "last", "c0")
	run("show", "last", fmt.Sprintf("c%d", len(ps)-1), "--json", "--full")
	run("runs", "--json")
	report := []string{"report", "last"}
	for _, ext := range []string{"html", "md", "xml", "csv", "json", "jsonl", "txt"} {
		report = append(report, "-o", "report."+ext)
	}
	run(report...)
	run("diff", "last", "last")
	run("gate", "last")
	run("run", "--resume", "last")
	return all.String()
}

// TestUnracedSecretsStayOut plants every kind at every place of input, and reads the run with every
// command. Then it searches for the secrets in the store, in its write-ahead log, in reports, in
// caches and on both streams.
func TestUnracedSecretsStayOut(t *testing.T) {
	t.Parallel()
	ps := plant()
	if len(ps) < 60 {
		t.Fatalf("%d kinds", len(ps))
	}
	chat := func(message string) string {
		return `{"id":"r","model":"m","choices":[{"index":0,"finish_reason":"stop","message":` + message +
			`}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`
	}
	called := func(args string) string {
		return chat(
			`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"note","arguments":` + quoted(args) + `}}]}`)
	}
	for name, answer := range map[string]func(w http.ResponseWriter, p planted){
		"tool argument": func(w http.ResponseWriter,
			p planted,
		) {
			fmt.Fprint(w, called(`{"text":`+quoted(p.text)+`}`))
		},
		"streamed": func(w http.ResponseWriter, p planted) { // in pieces that are no secrets
			w.Header().Set("Content-Type", "text/event-stream")
			for args, first := `{"text":`+quoted(p.text)+`}`, true; args != ""; first = false {
				piece := args[:min(len(args), 5)]
				args = args[len(piece):]
				name := ""
				if first {
					name = `"id":"c","type":"function",`
				}
				fmt.Fprintf(w,
					"data: {\"choices\":[{\"index\":0,\"delta\":{\"tool_calls\":[{\"index\":0,%s\"function\":{\"name\":%s,\"arguments\":%s}}]}}]}\n\n",
					name, quoted(map[bool]string{true: "note"}[first]), quoted(piece))
			}
			fmt.Fprint(w,
				"data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"tool_calls\"}]}\n\ndata: [DONE]\n\n")
		},
		"argument not JSON": func(w http.ResponseWriter,
			p planted,
		) {
			fmt.Fprint(w, called(`{"text":`+quoted(p.text)))
		},
		"name of an argument": func(w http.ResponseWriter, p planted) {
			fmt.Fprint(w, called(`{`+quoted(p.text)+`:1}`))
		},
		"answer": func(w http.ResponseWriter, p planted) {
			fmt.Fprint(w, chat(`{"role":"assistant","content":`+quoted("Here it is: "+p.text+" as asked.")+`}`))
		},
		"name of a tool": func(w http.ResponseWriter, p planted) {
			fmt.Fprint(w,
				chat(`{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":`+
					quoted(p.text)+`,"arguments":"{}"}}]}`))
		},
		"words of the server": func(w http.ResponseWriter, p planted) {
			fmt.Fprint(w, `{"id":"r","model":`+quoted(p.text)+`,"choices":[{"index":0,"finish_reason":`+quoted(p.text)+
				`,"message":{"role":"assistant","content":"no [REDACTED:x]"}}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`)
		},
		"error body that ends the run": func(w http.ResponseWriter, p planted) {
			w.WriteHeader(http.StatusUnauthorized)
			fmt.Fprint(w, `{"error":{"message":`+quoted("incorrect key: "+p.text)+`}}`)
		},
		"error body": func(w http.ResponseWriter, p planted) {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":{"message":`+quoted("refused: "+p.text)+`,"type":"invalid_request_error"}}`)
		},
		"error body, plain": func(w http.ResponseWriter, p planted) {
			w.Header().Set("Content-Type", "text/plain")
			w.WriteHeader(http.StatusInternalServerError)
			fmt.Fprint(w, strings.Repeat("padding ", 58)+p.text+" and more")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				answer(w, ps[number(r)])
			}))
			defer srv.Close()
			dir := t.TempDir()
			writeFiles(t, dir, map[string]string{"in-s.json": suiteOf(len(ps))})
			a, out, errs := newApp(dir, nil)
			a.run(t.Context(), a.rootCommand(),
				[]string{
					"run", "in-s.json", "-m", "compatible/m", "--base-url", srv.URL + "/v1", "--retries", "0",
					"-c", "16", "-o", "run.html", "-o", "run.json",
					"--stream=" + strconv.FormatBool(name == "streamed"),
				})
			printed := out.String() + errs.String() + look(t, dir, nil, ps)
			if !strings.Contains(printed, "REDACTED") {
				t.Errorf("nothing was redacted, was anything asked?\n%s", clipped(printed))
			}
			for _, l := range leaks(t, dir, printed, ps) {
				t.Error(l)
			}
			if name == "streamed" &&
				(strings.Contains(printed, "data: {") || !strings.Contains(printed, "[REDACTED:stream]")) {
				t.Error("the pieces of a secret are kept")
			}
		})
	}
	t.Run("tool result", func(t *testing.T) {
		t.Parallel()
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			p := ps[number(r)]
			fmt.Fprint(w, `{"text":"done","calls":[{"name":"note","arguments":{"text":"x"},"result":{"found":`+
				quoted(p.text)+`,"deep":[`+quoted(`{"a":`+quoted(p.text)+`}`)+`]}}]}`)
		}))
		defer srv.Close()
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"in-s.json": suiteOf(len(ps))})
		a, out, errs := newApp(dir, nil)
		a.run(t.Context(), a.rootCommand(), []string{"run", "in-s.json", "-m", srv.URL, "-c", "16"})
		for _, l := range leaks(t, dir, out.String()+errs.String()+look(t, dir, nil, ps), ps) {
			t.Error(l)
		}
	})
	t.Run("traces", func(t *testing.T) {
		t.Parallel()
		dir := t.TempDir()
		var lines strings.Builder
		for i, p := range ps {
			text := quoted(p.text)
			fmt.Fprintf(&lines,
				`{"task_id":"t%d","tool":"note","args":{"x":%s,%s:1},"status":"error","error":%[2]s,"result":{"v":%[2]s},"gold":{"tool":"note","args":{"x":%[2]s}},"tags":[%[2]s]}
{"type":"task","task_id":"t%[1]d","pass":false,"goal":%[2]s,"final_answer":%[2]s,"judged":[{"judge":"j","pass":true,"reason":%[2]s}]}
`, i, text, text)
		}
		writeFiles(t, dir,
			map[string]string{
				"in-t.jsonl":    lines.String(),
				"in-tools.json": `[{"name":"note","parameters":{"type":"object","properties":{"x":{"type":"integer"}},"additionalProperties":false}}]`,
			})
		var printed strings.Builder
		for _, line := range []string{
			"score in-t.jsonl --tools in-tools.json -o s.html -o s.md -o s.json",
			"score in-t.jsonl --tools in-tools.json --json", "diff in-t.jsonl in-t.jsonl",
			"trace import in-t.jsonl -o t.jsonl", "trace import in-t.jsonl --to otlp -o t.json",
			"label next in-t.jsonl --n 99 -o todo.jsonl", "label next in-t.jsonl --n 99", "trace check in-t.jsonl",
		} {
			a, out, errs := newApp(dir, nil)
			a.run(t.Context(), a.rootCommand(), strings.Fields(line))
			printed.WriteString(out.String() + errs.String())
		}
		if !strings.Contains(printed.String(), "note") {
			t.Errorf("nothing was scored: %s", clipped(printed.String()))
		}
		for _, l := range leaks(t, dir, printed.String(), ps) {
			t.Error(l)
		}
	})
	t.Run("environment", func(t *testing.T) {
		t.Parallel()
		sh, err := exec.LookPath("sh")
		if err != nil {
			t.Skip("there is no shell")
		}
		env := map[string]string{"PATH": os.Getenv("PATH"), "PLAIN_SETTING": "visible"}
		for i, p := range ps {
			env[fmt.Sprintf("SVC%d_TOKEN", i)] = p.core
		}
		env["OPENAI_API_KEY"] = ps[0].text
		const agent = `#!/bin/sh
cat >/dev/null
all=$(env | tr -d '"\\' | tr '\n' ' ')
echo "$all" >&2
case "$1" in
fail) exit 3;;
esac
printf '{"text":"%s","calls":[{"name":"note","arguments":{"text":"%s"},"result":"%s"}]}' "$all" "$all" "$all"
`
		for _, flags := range [][]string{nil, {"--exec-env", "SVC*", "--exec-env", "OPENAI_API_KEY"}} {
			for _, how := range []string{"work", "fail"} {
				dir := t.TempDir()
				writeFiles(t, dir, map[string]string{"in-s.json": suiteOf(1), "in-agent.sh": agent})
				a, out, errs := newApp(dir, env)
				a.run(t.Context(), a.rootCommand(),
					append([]string{
						"run", "in-s.json", "-m",
						"exec:" + sh + " " + filepath.Join(dir, "in-agent.sh") + " " + how,
					}, flags...))
				printed := out.String() + errs.String() + look(t, dir, env, ps[:1])
				for _, l := range leaks(t, dir, printed, ps) {
					t.Error(l)
				}
				if !strings.Contains(printed, "PLAIN_SETTING=visible") {
					t.Errorf("the agent did not run: %s", clipped(printed))
				}
				if seen := strings.Contains(printed, "SVC7_TOKEN=[REDACTED"); seen != (flags != nil) {
					t.Errorf("%v: the agent sees the variable: %v", flags, seen)
				}
			}
		}
	})
	// What a person writes down is refused, and the message does not repeat it.
	for name, args := range map[string]func(p planted) []string{
		"base URL": func(p planted) []string {
			return []string{"-m", "compatible/m", "--base-url", "http://127.0.0.1:1/v1?api_key=" + p.core}
		},
		"base URL, in a text": func(p planted) []string {
			return []string{"-m", "compatible/m", "--base-url", "http://127.0.0.1:1/v1?x=" + url.QueryEscape(p.text)}
		},
		"address": func(p planted) []string { return []string{"-m", "http://bob:" + p.core + "@127.0.0.1:1/"} },
		"header": func(p planted) []string {
			return []string{"-m", "http://127.0.0.1:1/", "--header", "X-Api-Key: " + p.core}
		},
		"--set": func(p planted) []string {
			return []string{
				"-m", "compatible/m", "--base-url", "http://127.0.0.1:1/v1", "--set",
				"api_key=" + quoted(p.core),
			}
		},
		"--set, in a text": func(p planted) []string {
			return []string{
				"-m", "compatible/m", "--base-url", "http://127.0.0.1:1/v1", "--set",
				"user=" + quoted(p.text),
			}
		},
		"command": func(p planted) []string { return []string{"-m", "exec:true --token=" + p.core} },
		"system": func(p planted) []string {
			return []string{"-m", "offline/lexical", "--system", "You have " + p.text + " to use."}
		},
		"--name":      func(p planted) []string { return []string{"-m", "offline/lexical", "--name", p.text} },
		"--filter":    func(p planted) []string { return []string{"-m", "offline/lexical", "--filter", "!" + p.text} },
		"suite":       func(planted) []string { return []string{"-m", "offline/lexical"} },
		"suite, gold": func(planted) []string { return []string{"-m", "offline/lexical"} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var printed strings.Builder
			for i, p := range ps {
				s := suiteOf(1)
				switch name {
				case "suite":
					s = strings.Replace(s, "give me number 0.", strings.Trim(quoted("use "+p.text+" for it"), `"`), 1)
				case "suite, gold":
					s = strings.Replace(s, `"nothing"`, quoted(p.text), 1)
				}
				writeFiles(t, dir, map[string]string{"in-s.json": s})
				a, out, errs := newApp(dir, nil)
				code := a.run(t.Context(), a.rootCommand(), append([]string{"run", "in-s.json"}, args(p)...))
				printed.WriteString(out.String() + errs.String())
				if code != exitUsage {
					t.Errorf("%d %s: exit %d: %s", i, p.kind, code, clipped(out.String()+errs.String()))
				}
			}
			for _, l := range leaks(t, dir, printed.String(), ps) {
				t.Error(l)
			}
		})
	}
	t.Run("variables", func(t *testing.T) {
		t.Parallel()
		env := map[string]string{"GATEWAY": ps[0].core, "OPENAI_API_KEY": ps[1].text, "TENANT": "seventeen-horses-run"}
		var queries []string
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			queries = append(queries, r.URL.Query().Get("api_key")+" "+r.Header.Get("X-Api-Key"))
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, `{"error":`+
				quoted("no such path "+r.URL.String()+" "+r.Header.Get("Authorization")+r.Header.Get("X-Api-Key")+
					r.Header.Get("X-Tenant"))+`}`)
		}))
		defer srv.Close()
		dir := t.TempDir()
		writeFiles(t, dir, map[string]string{"in-s.json": suiteOf(1)})
		var printed string
		for _, args := range [][]string{
			{"-m", "openai/m", "--base-url", srv.URL + "/v1?api_key=${GATEWAY}"},
			{"-m", srv.URL, "--header", "X-Api-Key: ${GATEWAY}", "--header", "X-Tenant: ${TENANT}"},
		} {
			a, out, errs := newApp(dir, env)
			a.run(t.Context(), a.rootCommand(), append([]string{"run", "in-s.json"}, args...))
			printed += out.String() + errs.String() + look(t, dir, env, ps[:1])
		}
		if all := strings.Join(queries, "\n"); !strings.Contains(all, ps[0].core+" ") ||
			!strings.Contains(all, " "+ps[0].core) {
			t.Errorf("the variable was not sent: %s", all)
		}
		for _, l := range leaks(t, dir, printed, append(ps, planted{"a value in a header", "", env["TENANT"]})) {
			t.Error(l)
		}
	})
}

// TestPlainHTTP: a key over plain HTTP is reported before anything is sent.
func TestPlainHTTP(t *testing.T) {
	t.Parallel()
	env := map[string]string{"OPENAI_API_KEY": "an-invented-key-0123456789", "GATEWAY": "another-invented-key-98765"}
	files := map[string]string{
		"in-s.json":  suiteOf(1),
		"tools.json": `[{"name":"note","description":"Writes a note.","parameters":{"type":"object"}}]`,
	}
	for _, c := range []struct {
		warns bool
		args  []string
	}{
		{true, []string{"-m", "openai/m", "--base-url", "http://255.255.255.255:1/v1"}},
		{true, []string{"-m", "openai/m", "--base-url", "http://255.255.255.255:1/v1?key=${GATEWAY}"}},
		{true, []string{"-m", "compatible/m", "--base-url", "http://255.255.255.255:1/v1?api_key=${GATEWAY}"}},
		{true, []string{"-m", "http://255.255.255.255:1/", "--header", "X-Api-Key: ${GATEWAY}"}},
		{true, []string{"-m", "retrieve:http://255.255.255.255:1/", "--header", "X-Api-Key: ${GATEWAY}"}},
		{true, []string{"-m", "retrieve:tools.json?embed=openai:m@http://255.255.255.255:1"}},
		{false, []string{"-m", "openai/m", "--base-url", "http://127.0.0.1:1/v1"}},
		{false, []string{"-m", "openai/m", "--base-url", "http://localhost:1/v1"}},
		{false, []string{"-m", "openai/m", "--base-url", "https://127.0.0.1:1/v1"}},
		{false, []string{"-m", "http://255.255.255.255:1/"}},
	} {
		dir := t.TempDir()
		writeFiles(t, dir, files)
		a, _, errs := newApp(dir, env)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second) // embedders try again for longer
		defer cancel()
		a.run(ctx, a.rootCommand(),
			append([]string{"run", "in-s.json", "--retries", "0", "--timeout", "50ms"}, c.args...))
		if n := strings.Count(errs.String(), "goes over plain http"); n != map[bool]int{true: 1}[c.warns] {
			t.Errorf("%v: %d warnings: %s", c.args, n, errs)
		}
	}
}

// TestRedactionAndCache: an attempt with only texts of the case is kept unchanged and reused. One
// with a redacted text is asked again, with the same verdict. Reports hide both, unless they are
// asked to keep a kind.
func TestRedactionAndCache(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		args := `{"to":"ana@example.com"}`
		if number(r) == 1 {
			args = `{"to":"eve@example.net"}`
		}
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w,
			`{"id":"r","model":"m","choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"mail","arguments":`+quoted(args)+`}}]}}],"usage":{"prompt_tokens":9,"completion_tokens":3}}`)
	}))
	defer srv.Close()
	dir := t.TempDir()
	const tool = `{"name":"mail","parameters":{"type":"object","properties":{"to":{"type":"string","format":"email"}}}}`
	writeFiles(t, dir, map[string]string{"s.json": `{"name":"s","tools":[` + tool + `],"cases":[
		{"id":"own","prompt":"give me number 0. Mail ana@example.com","expected_tool":"mail","expected_params":{"to":"ana@example.com"}},
		{"id":"other","prompt":"give me number 1. Mail ana@example.com","expected_tool":"mail","expected_params":{"to":"ana@example.com"}}]}`})
	run := []string{"run", "s.json", "-m", "compatible/m", "--base-url", srv.URL + "/v1"}
	first := runApp(t, dir, nil, exitOK, run...)
	if !strings.Contains(first, "redacted in what is kept") || !strings.Contains(first, "1 attempt is not reused") {
		t.Errorf("nothing says what was redacted: %s", first)
	}
	words := func(s string) string { return strings.Join(strings.Fields(s), " ") } // the terminal wraps
	if !strings.Contains(words(first), `expected "[REDACTED:email]" got "[REDACTED:email#2]"`) {
		t.Errorf("expected and given cannot be told apart: %s", first)
	}
	runApp(t, dir, nil, exitOK, append(run, "-q")...)
	if n := asked.Load(); n != 3 {
		t.Errorf("%d requests, want 2 and then 1 for what was redacted", n)
	}
	show := []string{"show", "last", "other"}
	if hidden := runApp(t, dir, nil, exitOK, show...); strings.Contains(hidden, "ana@") ||
		strings.Contains(hidden, "eve@") {
		t.Errorf("shown: %s", hidden)
	}
	if kept := runApp(t, dir, nil, exitOK, append(show, "--keep", "email")...); !strings.Contains(kept,
		"ana@example.com") || strings.Contains(kept, "eve@") {
		t.Errorf("shown with --keep: %s", kept)
	}
	all := runApp(t, dir, nil, exitOK, append(run, "--keep", "email", "-o", "r.json")...)
	if !strings.Contains(words(all), `expected "ana@example.com" got "eve@example.net"`) ||
		strings.Contains(all, "redacted in what") {
		t.Errorf("run with --keep: %s", all)
	}
	if n := asked.Load(); n != 4 {
		t.Errorf("%d requests", n)
	}
	runApp(t, dir, nil, exitOK, append(run, "--keep", "email", "-q")...)
	if n := asked.Load(); n != 4 {
		t.Errorf("%d requests: an attempt that was kept as it is was asked again", n)
	}
	runApp(t, dir, nil, exitUsage, append(run, "--keep", "secret")...)
	runApp(t, dir, nil, exitUsage, append(run, "--keep", "mail")...)
}

func clipped(s string) string { return s[:min(len(s), 1500)] }
