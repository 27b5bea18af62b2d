// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

//go:build unix

package server_test

import (
	"context"
	"crypto/rand"
	"crypto/tls"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/app"
	"github.com/callvet/callvet/internal/server"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/internal/store"
)

// attack is one thing that a hostile user, model or network does to a started server.
type attack struct {
	name string
	do   func(t *testing.T)
}

// attacks are all of them; wantAttacks is how many there are, so that none is lost without a word.
func attacks() []attack {
	return []attack{
		{"keys/run-best of another user", attackRunBest},
		{"keys/schedule edited by an admin", attackSchedule},
		{"keys/address that the key is not for", attackOtherHost},
		{"keys/answers of another user or key", attackCache},
		{"sharing/experiment with a private run", attackExperiment},
		{"accounts/token that makes links", attackAdminToken},
		{"accounts/token that outlives a password", attackOldLogins},
		{"accounts/login that an admin ends", attackEndLogins},
		{"accounts/name locked out by failures", attackLockout},
		{"accounts/cookie planted first", attackPlantedCookie},
		{"accounts/cookie over https", attackHostCookie},
		{"audit/share, edit, run without a line", attackAudit},
		{"work/thousands of unknown keys", attackUnknownKeys},
		{"work/schemas that cost minutes", attackSchemas},
		{"work/more than a user may hold", attackQuota},
		{"work/more attempts than a user may hold", attackAttempts},
		{"work/disk that takes no file", attackFullDisk},
		{"work/job that failed goes on", attackFailedJob},
		{"mcp/40,000 tools", attackMCP("40,000 tools", 10_000)},
		{"mcp/16,000 properties", attackMCP("16,000 properties", 1)},
		{"mcp/endless pages", attackMCP("endless pages", 1)},
		{"mcp/control characters", attackMCP("control characters", 2)},
		{"mcp/empty names", attackMCP("empty names", 1)},
		{"scorer/prints a fake verdict", attackScorer("prints a fake verdict")},
		{"scorer/floods its output", attackScorer("floods its output")},
		{"scorer/forks and leaves", attackScorer("forks and leaves")},
		{"scorer/never ends", attackScorer("never ends")},
		{"scorer/closes the channel", attackScorer("closes the channel")},
	}
}

// longAttacks end when the server's patience does, after 20 seconds each.
func longAttacks() []attack {
	return []attack{
		{"mcp/slow drip", attackMCP("slow drip", -1)},
		{"mcp/wrong ids", attackMCP("wrong ids", -1)},
		{"mcp/endless notifications", attackMCP("endless notifications", -1)},
	}
}

// hostileAll carries out the long attacks too: make verify-hostile does.
var hostileAll = flag.Bool("hostile.all", false, "carry out the attacks that take long, too")

const (
	wantAttacks     = 28
	wantLongAttacks = 3
)

// Bounds of one attack with the work of the test around it, such as runs of a model. They are of
// the heap, and of CPU time with that of programs that it started. Under the race detector time
// means nothing.
const (
	mostBytes   = 512 << 20
	mostCPU     = 20 * time.Second
	mostOfKeys  = 64 << 20
	clientGoing = 300 * time.Millisecond
)

// TestHostile carries out every attack, one after the other, and prints what each of them costs.
func TestHostile(t *testing.T) {
	list, want := attacks(), wantAttacks
	if *hostileAll {
		list, want = append(list, longAttacks()...), want+wantLongAttacks
	}
	held := 0
	// How much garbage waits to be collected depends on what else the machine does. Under a limit it is collected
	// before it counts.
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(mostBytes))
	for _, a := range list {
		before := spent(t)
		runtime.GC()
		peak := heapPeak()
		ok := t.Run(a.name, a.do)
		bytes, cpu := peak(), spent(t)-before
		if bytes > mostBytes {
			t.Errorf("%s: %d MiB, more than %d MiB", a.name, bytes>>20, mostBytes>>20)
		}
		if cpu > mostCPU {
			t.Errorf("%s: %v of CPU, more than %v", a.name, cpu, mostCPU)
		}
		word := "holds"
		if !ok {
			word = "OPEN"
		} else {
			held++
		}
		t.Logf("%-44s %-6s %6.2f s CPU %6d MiB", a.name, word, cpu.Seconds(), bytes>>20)
	}
	if len(list) != want {
		t.Errorf("%d attacks, want %d", len(list), want)
	}
	t.Logf("%d of %d attacks were held off", held, want)
}

// spent is the CPU time that the process, and those that it started and that ended, have used so far.
func spent(t *testing.T) (cpu time.Duration) {
	t.Helper()
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			t.Fatal(err)
		}
		cpu += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return cpu
}

// allocated are the bytes that were allocated so far.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// heapPeak looks at the heap from now on; the function that it returns gives the largest size that was seen.
func heapPeak() func() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	over, peak := make(chan struct{}), make(chan uint64)
	go func() {
		most := uint64(0)
		for {
			metrics.Read(sample)
			most = max(most, sample[0].Value.Uint64())
			select {
			case <-over:
				peak <- most
				return
			case <-time.After(5 * time.Millisecond):
			}
		}
	}()
	return func() uint64 {
		close(over)
		return <-peak
	}
}

// listener is a model server that keeps the credentials which reach it.
type listener struct {
	*httptest.Server
	mu   sync.Mutex
	seen []string
}

func newListener(t *testing.T) *listener {
	t.Helper()
	l := &listener{}
	l.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.mu.Lock()
		l.seen = append(l.seen, r.Header.Get("Authorization"))
		l.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w,
			`{"model":"m","choices":[{"finish_reason":"stop","message":{"role":"assistant","content":"no"}}],"usage":{"prompt_tokens":5,"completion_tokens":1,"total_tokens":6}}`)
	}))
	t.Cleanup(l.Close)
	return l
}

// received is how many requests carried a credential with the text.
func (l *listener) received(text string) (n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, s := range l.seen {
		if strings.Contains(s, text) {
			n++
		}
	}
	return n
}

// answers sends a request as a user, fails where the status is another one, and returns the body.
func (s *site) answers(t *testing.T, code int, as, method, path, body string) string {
	t.Helper()
	got, text := s.ask(t, as, method, path, body)
	if got != code {
		t.Errorf("%s %s as %s: %d, want %d: %.500s", method, path, as, got, code, text)
	}
	return text
}

// busy is a site that does jobs and may ask models on this machine.
func busy(t *testing.T) *site {
	t.Helper()
	s := newSite(t)
	s.private(t)
	s.work(t)
	return s
}

// evalOf is a request for a run at an address.
func evalOf(suite, address, more string) string {
	return fmt.Sprintf(`{"suite_id": %q, "targets": [{"provider_key": "openai", "model_id": "m1", "base_url": %q}]%s}`,
		suite, address, more)
}

// key gives a user a key for the hosts of some addresses.
func (s *site) key(t *testing.T, as, value string, addresses ...string) {
	t.Helper()
	hosts := []string{}
	for _, a := range addresses {
		hosts = append(hosts, strings.TrimPrefix(a, "http://"))
	}
	b, err := json.Marshal(map[string]any{"value": value, "hosts": hosts})
	if err != nil {
		t.Fatal(err)
	}
	s.answers(t, 200, as, "PUT", "/api/keys/OPENAI_API_KEY", string(b))
}

// attackOtherHost: an address that the user wrote, for example from a web page, gets no key for
// another host. Nor does an address in a variable that was set after the key.
func attackOtherHost(t *testing.T) {
	s, mine, evil := busy(t), newListener(t), newListener(t)
	s.key(t, "bo", "sk-of-bo-0123456789", mine.URL)
	suite := s.keepSuite(t, "bo", 2)
	run := func(address, ends string) string {
		j := s.awaitJob(t, "bo",
			stored[jobAnswer](t, s, "bo", "POST", "/api/tool-eval", evalOf(suite, address, "")).JobID, ends)
		return s.answers(t, 200, "bo", "GET", "/api/runs/"+j.ResultRef+"/export?format=jsonl", "")
	}
	run(mine.URL, "done")
	if mine.received("sk-of-bo") == 0 {
		t.Fatal("the key did not reach its own host: the test shows nothing")
	}
	text := run(evil.URL, "failed")
	for _, want := range []string{
		"OPENAI_API_KEY", strings.TrimPrefix(evil.URL, "http://"),
		strings.TrimPrefix(mine.URL, "http://"), "PUT /api/keys/OPENAI_API_KEY",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the reason does not name %s: %s", want, text)
		}
	}
	s.answers(t, 200, "bo", "PUT", "/api/keys/OPENAI_BASE_URL", fmt.Sprintf(`{"value": %q}`, evil.URL))
	s.awaitJob(t, "bo", stored[jobAnswer](t, s, "bo", "POST", "/api/tool-eval",
		fmt.Sprintf(`{"suite_id": %q, "targets": [{"provider_key": "openai", "model_id": "m1"}]}`, suite)).JobID,
		"failed")
	s.answers(t, 200, "bo", "POST", "/api/targets/test",
		fmt.Sprintf(`{"provider_key": "openai", "model_id": "m1", "base_url": %q}`, evil.URL))
	if n := len(evil.seen); n != 0 {
		t.Errorf("%d requests reached the other host", n)
	}
	s.key(t, "bo", "sk-of-bo-0123456789", evil.URL)
	run(evil.URL, "done")
	if evil.received("sk-of-bo") == 0 {
		t.Error("the host was allowed, and the key is not sent")
	}
	// Without hosts a key is for those of its provider, and for near ones.
	if k := stored[account.ProviderKey](t, s, "ana", "PUT", "/api/keys/OPENAI_API_KEY",
		`{"value": "sk-of-ana-0123456789"}`); !slices.Equal(k.Hosts, []string{"api.openai.com"}) || !k.Near {
		t.Errorf("the hosts of a provider: %+v", k)
	}
	if k := stored[account.ProviderKey](t, s, "ana", "PUT", "/api/keys/MY_TOKEN",
		`{"value": "of-ana-0123456789"}`); len(k.Hosts) != 0 || !k.Near {
		t.Errorf("a key of no provider: %+v", k)
	}
	// A key without hosts goes to a private address that the admin allows, such as a model server
	// nearby.
	near := newListener(t)
	suite2 := s.keepSuite(t, "ana", 2)
	s.awaitJob(t, "ana", stored[jobAnswer](t, s, "ana", "POST", "/api/tool-eval", evalOf(suite2, near.URL, "")).JobID,
		"done")
	if near.received("sk-of-ana") == 0 {
		t.Error("the key was not sent to an allowed private address")
	}
}

func attackRunBest(t *testing.T) {
	s, evil := busy(t), newListener(t)
	s.key(t, "bo", "sk-of-bo-0123456789", evil.URL)
	s.key(t, "root", "sk-of-root-0123456789", evil.URL)
	suite := s.keepSuite(t, "bo", 2)
	e := stored[server.ExperimentDetails](t, s, "bo", "POST", "/api/experiments",
		fmt.Sprintf(`{"name": "x", "suite_id": %q}`, suite))
	done := s.awaitJob(t, "bo",
		stored[jobAnswer](t, s, "bo", "POST", "/api/tool-eval",
			evalOf(suite, evil.URL, fmt.Sprintf(`, "experiment_id": %q`, e.ID))).JobID, "done")
	if evil.received("sk-of-bo") == 0 || done.ResultRef == "" {
		t.Fatal("the run of the user himself did not send his key: the test shows nothing")
	}
	path := "/api/experiments/" + e.ID + "/run-best"
	if text := s.answers(t, 403, "root", "POST", path, ""); !strings.Contains(text, "another user wrote") {
		t.Errorf("the reason is not given: %s", text)
	}
	if n := evil.received("sk-of-root"); n != 0 {
		t.Errorf("the key of an admin reached the address of a member %d times", n)
	}
	s.awaitJob(t, "bo", stored[jobAnswer](t, s, "bo", "POST", path, "").JobID, "done")
}

func attackSchedule(t *testing.T) {
	s, mine, evil := busy(t), newListener(t), newListener(t)
	s.key(t, "bo", "sk-of-bo-0123456789", mine.URL, evil.URL)
	suite := s.keepSuite(t, "bo", 2)
	of := func(address, name string) string {
		return fmt.Sprintf(`{"name": %q, "cron": "0 3 * * *", "eval": %s}`, name, evalOf(suite, address, ""))
	}
	made := stored[server.Schedule](t, s, "bo", "POST", "/api/schedules", of(mine.URL, "nightly"))
	path := "/api/schedules/" + made.ID
	s.answers(t, 403, "root", "PUT", path, of(evil.URL, "nightly"))
	judged := fmt.Sprintf(`, "judge": {"judge": ["success"], "judge_model": ["openai/m1"], "judge_base_url": %q}`,
		evil.URL)
	s.answers(t, 403, "root", "PUT", path,
		fmt.Sprintf(`{"name": "n", "cron": "0 3 * * *", "eval": %s}`, evalOf(suite, mine.URL, judged)))
	s.answers(t, 200, "root", "PUT", path,
		fmt.Sprintf(`{"name": "renamed", "cron": "0 4 * * *", "eval": %s}`,
			evalOf(suite, mine.URL, `, "temperature": 0.5`)))
	run := stored[server.ScheduleRun](t, s, "root", "POST", path+"/run", "")
	s.awaitJob(t, "bo", run.Job, "done")
	if evil.received("sk-") != 0 || mine.received("sk-of-bo") == 0 {
		t.Errorf("keys: %d at the admin's address, %d at the owner's", evil.received("sk-"), mine.received("sk-of-bo"))
	}
}

func attackCache(t *testing.T) {
	s, m := busy(t), newModel(t, nil)
	run := func(as, suite string) int64 {
		before := m.asked.Load()
		s.awaitJob(t, as, stored[jobAnswer](t, s, as, "POST", "/api/tool-eval", evalOf(suite, m.URL, "")).JobID, "done")
		return m.asked.Load() - before
	}
	s.key(t, "bo", "sk-of-bo-0123456789", m.URL)
	of := map[string]string{"bo": s.keepSuite(t, "bo", 3), "ana": s.keepSuite(t, "ana", 3)}
	for _, step := range []struct {
		what, as string
		want     int64
	}{{"the first run", "bo", 3}, {"the same again", "bo", 0}, {"another user, who has no key", "ana", 3}} {
		if n := run(step.as, of[step.as]); n != step.want {
			t.Errorf("%s: %d requests, want %d", step.what, n, step.want)
		}
	}
	s.key(t, "bo", "sk-of-bo-another-one", m.URL)
	if n := run("bo", of["bo"]); n != 3 {
		t.Errorf("with another key: %d requests, want 3", n)
	}
}

func attackExperiment(t *testing.T) {
	s := newSite(t)
	s.suiteOf(t, "ana", "suite_1")
	e := stored[server.ExperimentDetails](t, s, "ana", "POST", "/api/experiments",
		`{"name": "x", "suite_id": "suite_1", "shared": true}`)
	hidden := s.ran(t, "ana", "", 1,
		app.TargetSpec{Target: "offline/lexical", Name: "hidden-name", SystemPrompt: "hidden-prompt"})
	open := s.ran(t, "ana", "", 1)
	for _, id := range []string{hidden, open} {
		s.answers(t, 204, "ana", "PATCH", "/api/runs/"+id,
			fmt.Sprintf(`{"experiment_id": %q, "shared": %v}`, e.ID, id == open))
	}
	path := "/api/experiments/" + e.ID
	s.answers(t, 200, "ana", "PUT", path+"/baseline", fmt.Sprintf(`{"eval_id": %q}`, hidden))
	for _, p := range []string{"/api/experiments", path, path + "/timeline"} {
		text := s.answers(t, 200, "vera", "GET", p, "")
		if strings.Contains(text, "hidden") || strings.Contains(text, hidden) {
			t.Errorf("GET %s as a viewer shows a private run: %s", p, text)
		}
	}
	if text := s.answers(t, 200, "vera", "GET", path+"/timeline", ""); !strings.Contains(text, open) {
		t.Errorf("the shared run is not there: %s", text)
	}
	if text := s.answers(t, 200, "ana", "GET", path+"/timeline", ""); !strings.Contains(text, "hidden-prompt") {
		t.Errorf("the owner does not see it: the test shows nothing: %s", text)
	}
}

func attackAdminToken(t *testing.T) {
	s := newSite(t)
	s.answers(t, 403, "root", "POST", "/api/users", `{"name": "evil", "role": "admin"}`)
	s.answers(t, 403, "root", "POST", "/api/users/user_ana/link", "")
	s.answers(t, 403, "root", "PATCH", "/api/users/user_ana", `{"role": "admin"}`)
	s.answers(t, 403, "root", "POST", "/api/tokens", `{"name": "x", "scopes": ["admin"]}`)
	s.answers(t, 200, "root", "PATCH", "/api/users/user_ana", `{"max_jobs": 3}`)
	if u, err := s.users.User(t.Context(), "user_ana"); err != nil || u.Role != account.Member {
		t.Errorf("%+v, %v", u, err)
	}
}

// browse sends a request with cookies, and returns the status and the cookies that come back.
func (s *site) browse(t *testing.T, method, path, body string, cookies []*http.Cookie,
	header ...string,
) (int, []*http.Cookie) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	for _, c := range cookies {
		req.AddCookie(c)
	}
	res, err := s.Client().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	if _, err := io.Copy(io.Discard, res.Body); err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, res.Cookies()
}

// enter logs a user in by a new link, and gives his cookies and his password.
func (s *site) enter(t *testing.T, name string) ([]*http.Cookie, string) {
	t.Helper()
	password := withPassword(t, s, name)["password"]
	code, cookies := s.browse(t, "POST", "/api/session",
		fmt.Sprintf(`{"name": %q, "password": %q}`, name, password), nil)
	if code != 200 || len(cookies) != 1 {
		t.Fatalf("log in: %d, %d cookies", code, len(cookies))
	}
	return cookies, password
}

func attackOldLogins(t *testing.T) {
	s := newSite(t)
	stolen, password := s.enter(t, "ana")
	own, _ := s.browse(t, "GET", "/api/me", "", stolen)
	token := s.grant(t, "user_ana", all(), time.Hour)
	bearer := []string{"Authorization", "Bearer " + token.token}
	if code, _ := s.browse(t, "GET", "/api/me", "", nil, bearer...); own != 200 || code != 200 {
		t.Fatalf("before: %d, %d", own, code)
	}
	code, fresh := s.browse(t, "PUT", "/api/me/password",
		fmt.Sprintf(`{"before": %q, "password": "quite another password"}`, password), stolen)
	if code != 204 || len(fresh) != 1 {
		t.Fatalf("change: %d, %d cookies", code, len(fresh))
	}
	is := func(what string, want int, cookies []*http.Cookie, header ...string) {
		t.Helper()
		if code, _ := s.browse(t, "GET", "/api/me", "", cookies, header...); code != want {
			t.Errorf("%s: %d, want %d", what, code, want)
		}
	}
	is("the session before the password", 401, stolen)
	is("a token before the password", 401, nil, bearer...)
	is("the session of who changed it", 200, fresh)
	token = s.grant(t, "user_ana", all(), time.Hour)
	withPassword(t, s, "ana") // a reset
	is("the session before the reset", 401, fresh)
	is("a token before the reset", 401, nil, "Authorization", "Bearer "+token.token)
}

func attackEndLogins(t *testing.T) {
	s := newSite(t)
	first, _ := s.enter(t, "ana")
	second := []*http.Cookie{{Name: api.SessionCookie, Value: s.session(t, "user_ana", time.Hour).cookie}}
	s.grant(t, "user_ana", all(), time.Hour)
	const path = "/api/users/user_ana/logins"
	l := stored[account.Logins](t, s, "root", "GET", path, "")
	if len(l.Sessions) != 3 || len(l.Tokens) != 1 { // the link that set the password began one, too
		t.Fatalf("%+v", l)
	}
	b, err := json.Marshal(l)
	if err != nil || strings.Contains(string(b), first[0].Value) {
		t.Errorf("the list holds a secret: %s, %v", b, err)
	}
	s.answers(t, 204, "root", "DELETE", path+"?login="+l.Sessions[0].ID, "")
	s.answers(t, 404, "root", "DELETE", path+"?login="+l.Sessions[0].ID, "")
	s.answers(t, 404, "root", "DELETE", path+"?login=token_bo", "")
	if l = stored[account.Logins](t, s, "root", "GET", path, ""); len(l.Sessions) != 2 || len(l.Tokens) != 1 {
		t.Errorf("after one of them: %+v", l)
	}
	s.answers(t, 204, "root", "DELETE", path, "")
	for _, c := range [][]*http.Cookie{first, second} {
		if code, _ := s.browse(t, "GET", "/api/me", "", c); code != 401 {
			t.Errorf("an ended session: %d", code)
		}
	}
	if l = stored[account.Logins](t, s, "root", "GET", path, ""); len(l.Sessions)+len(l.Tokens) != 0 {
		t.Errorf("after all of them: %+v", l)
	}
	s.answers(t, 403, "bo", "GET", path, "")
	s.answers(t, 200, "bo", "GET", "/api/me", "")
}

func attackLockout(t *testing.T) {
	s := newSite(t, func(c *api.Config) { c.Proxies = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")} })
	cookies, password := s.enter(t, "ana")
	limited := 0
	for range 60 {
		code, _ := s.browse(t, "POST", "/api/session", `{"name": "ana", "password": "a wrong password"}`, nil,
			"X-Forwarded-For", "192.0.2.66")
		if code == 429 {
			limited++
		}
	}
	if limited < 50 {
		t.Errorf("the attacker waits %d times of 60", limited)
	}
	if code, _ := s.browse(t, "POST", "/api/session", fmt.Sprintf(`{"name": "ana", "password": %q}`, password), nil,
		"X-Forwarded-For", "192.0.2.1"); code != 200 {
		t.Errorf("the user at another address: %d", code)
	}
	for _, p := range []struct {
		code         int
		method, path string
		body         string
	}{
		{200, "GET", "/api/me", ""},
		{
			204, "PUT", "/api/me/password",
			fmt.Sprintf(`{"before": %q, "password": "quite another password"}`, password),
		},
	} {
		if code, _ := s.browse(t, p.method, p.path, p.body, cookies, "X-Forwarded-For", "192.0.2.66"); code != p.code {
			t.Errorf("%s with a session, at the attacker's address: %d", p.path, code)
		}
	}
}

func attackPlantedCookie(t *testing.T) {
	s := newSite(t)
	good, _ := s.enter(t, "ana")
	planted := []*http.Cookie{{Name: api.SessionCookie, Value: "planted"}, {Name: api.SessionCookie, Value: ""}}
	if code, _ := s.browse(t, "GET", "/api/me", "", append(slices.Clone(planted), good...)); code != 200 {
		t.Errorf("a planted cookie before the good one: %d", code)
	}
	if code, _ := s.browse(t, "GET", "/api/me", "", planted); code != 401 {
		t.Errorf("planted cookies alone: %d", code)
	}
}

func attackHostCookie(t *testing.T) {
	s := newSite(t)
	secure := httptest.NewTLSServer(s.srv.Handler())
	t.Cleanup(secure.Close)
	password := withPassword(t, s, "ana")["password"]
	over := &site{Server: secure, srv: s.srv, db: s.db, users: s.users}
	if tr, ok := secure.Client().Transport.(*http.Transport); !ok || tr.TLSClientConfig.MinVersion > tls.VersionTLS13 {
		t.Fatal("no TLS")
	}
	code, cookies := over.browse(t, "POST", "/api/session",
		fmt.Sprintf(`{"name": "ana", "password": %q}`, password), nil)
	if code != 200 || len(cookies) != 1 || cookies[0].Name != "__Host-"+api.SessionCookie || !cookies[0].Secure ||
		cookies[0].Path != "/" || cookies[0].Domain != "" {
		t.Fatalf("%d %+v", code, cookies)
	}
	if code, _ := over.browse(t, "GET", "/api/me", "", cookies); code != 200 {
		t.Errorf("the good cookie: %d", code)
	}
	plain := []*http.Cookie{{Name: api.SessionCookie, Value: cookies[0].Value}}
	if code, _ := over.browse(t, "GET", "/api/me", "", plain); code != 401 {
		t.Errorf("a cookie that a neighbouring host could plant: %d", code)
	}
}

func attackAudit(t *testing.T) {
	s, m := busy(t), newModel(t, nil)
	s.key(t, "bo", "sk-of-bo-0123456789", m.URL)
	suite := s.keepSuite(t, "bo", 2)
	path := "/api/tool-suites/" + suite
	s.answers(t, 200, "bo", "PATCH", path, `{"shared": true}`)
	s.answers(t, 200, "root", "PATCH", path, `{"description": "edited"}`)
	s.awaitJob(t, "bo", stored[jobAnswer](t, s, "bo", "POST", "/api/tool-eval", evalOf(suite, m.URL, "")).JobID, "done")
	stored[server.ExperimentDetails](t, s, "bo", "POST", "/api/experiments",
		fmt.Sprintf(`{"name": "x", "suite_id": %q, "shared": true}`, suite))
	for _, want := range []struct{ action, user, text string }{
		{"suite.share", "user_bo", suite},
		{"suite.change", "user_root", `"owner":"user_bo"`},
		{"run.start", "user_bo", `"OPENAI_API_KEY"`},
		{"experiment.share", "user_bo", "exp_"},
	} {
		text := s.answers(t, 200, "root", "GET", "/api/audit?action="+want.action, "")
		if !strings.Contains(text, want.user) || !strings.Contains(text, want.text) ||
			strings.Contains(text, "sk-of-bo") {
			t.Errorf("%s: %s", want.action, text)
		}
	}
	if text := s.answers(t, 200, "root", "GET", "/api/audit?action=suite.change&user_id=user_bo",
		""); strings.Contains(text, "suite.change") {
		t.Errorf("an edit of what is one's own has a line: %s", text)
	}
}

func attackUnknownKeys(t *testing.T) {
	s := newSite(t)
	var b strings.Builder
	b.WriteString(`{"name":"a","password":"b"`)
	for i := 0; b.Len() < 58<<10; i++ {
		fmt.Fprintf(&b, `,"k%d":0`, i)
	}
	b.WriteString("}")
	before := allocated()
	text := s.answers(t, 422, "", "POST", "/api/session", b.String())
	if now := allocated(); now-before > mostOfKeys {
		t.Errorf("58 KB without a login cost %d MiB", (now-before)>>20)
	}
	var p struct {
		Errors []struct{ Message, Location string }
	}
	if err := json.Unmarshal([]byte(text), &p); err != nil || len(p.Errors) != 21 || len(text) > 8<<10 ||
		!strings.Contains(p.Errors[20].Message, "more errors") {
		t.Errorf("%v: %d errors in %d bytes: %.300s", err, len(p.Errors), len(text), text)
	}
	long := `{"name":"a","password":"b",` + strings.Repeat(" ", 10) + `"` + strings.Repeat("x", 50<<10) + `":0}`
	if text := s.answers(t, 422, "", "POST", "/api/session", long); len(text) > 4<<10 {
		t.Errorf("a long key is repeated: %d bytes", len(text))
	}
}

// attackAttempts: a run stops when its user has too many bytes of attempts, keeps the answers, and
// continues once there is room.
func attackAttempts(t *testing.T) {
	s := newSite(t, func(c *api.Config) { c.Quota = store.Quota{AttemptBytes: 1} })
	suite := s.keepSuite(t, "bo", 2)
	ask := fmt.Sprintf(`{"suite_id": %q, "models": ["offline/lexical"]}`, suite)
	s.answers(t, 200, "root", "PATCH", "/api/users/user_bo", `{"max_jobs": 1}`)
	first := stored[jobAnswer](t, s, "bo", "POST", "/api/tool-eval", ask)
	second := stored[jobAnswer](t, s, "bo", "POST", "/api/tool-eval", ask) // there is room while nothing was done
	s.work(t)
	done := s.awaitJob(t, "bo", first.JobID, "done")
	full := s.awaitJob(t, "bo", second.JobID, "failed")
	if !strings.Contains(full.Error, "of at most 1 bytes of attempts: delete a run") {
		t.Errorf("the reason: %q", full.Error)
	}
	if text := s.answers(t, 200, "bo", "GET", "/api/runs/"+full.ResultRef, ""); !strings.Contains(text,
		`"status":"budget"`) {
		t.Errorf("the run is not out of budget: %.2000s", text)
	}
	if text := s.answers(t, 429, "bo", "POST", "/api/tool-eval", ask); !strings.Contains(text, "bytes of attempts") {
		t.Errorf("another run: %s", text)
	}
	if text := s.answers(t, 200, "bo", "GET", "/api/me/quota", ""); !strings.Contains(text, `"what":"attempt_bytes"`) ||
		strings.Contains(text, `"what":"attempt_bytes","held":0`) {
		t.Errorf("what is held: %s", text)
	}
	s.answers(t, 204, "bo", "DELETE", "/api/tool-eval/history/"+done.ResultRef, "")
	again := stored[jobAnswer](t, s, "bo", "POST", "/api/runs/"+full.ResultRef+"/resume", "")
	s.awaitJob(t, "bo", again.JobID, "done")
}

func attackQuota(t *testing.T) {
	s := newSite(t,
		func(c *api.Config) { c.Quota = store.Quota{Jobs: 2, Suites: 3, Experiments: 1, Bytes: 8 << 10} })
	suite := s.keepSuite(t, "bo", 2)
	ask := fmt.Sprintf(`{"suite_id": %q, "models": ["offline/lexical"]}`, suite) // nothing does jobs here
	for range 2 {
		s.answers(t, 202, "bo", "POST", "/api/tool-eval", ask)
	}
	if text := s.answers(t, 429, "bo", "POST", "/api/tool-eval", ask); !strings.Contains(text,
		"2 jobs that are not over") {
		t.Errorf("jobs: %s", text)
	}
	experiment := fmt.Sprintf(`{"name": "x", "suite_id": %q}`, suite)
	s.answers(t, 201, "bo", "POST", "/api/experiments", experiment)
	s.answers(t, 429, "bo", "POST", "/api/experiments", experiment)
	for range 2 {
		s.answers(t, 201, "bo", "POST", "/api/tool-suites", `{"name": "y"}`)
	}
	s.answers(t, 429, "bo", "POST", "/api/tool-suites", `{"name": "y"}`)
	noise := rand.Text() // that does not compress
	for len(noise) < 24<<10 {
		noise += rand.Text()
	}
	path := "/api/tool-suites/" + suite
	if text := s.answers(t, 429, "bo", "PATCH", path,
		fmt.Sprintf(`{"system_prompt": %q}`, noise)); !strings.Contains(text, "bytes of suites") {
		t.Errorf("bytes: %.300s", text)
	}
	if text := s.answers(t, 200, "bo", "GET", path, ""); strings.Contains(text, noise[:100]) {
		t.Error("an edit that was refused is there")
	}
	s.answers(t, 201, "ana", "POST", "/api/tool-suites", `{"name": "of another user"}`)
}

func attackFullDisk(t *testing.T) {
	clock := time.Now()
	s := newSite(t, func(c *api.Config) { c.Now = func() time.Time { return clock } })
	s.answers(t, 200, "", "GET", "/api/ready", "")
	folder := filepath.Dir(s.db.Path())
	if err := os.Rename(folder, folder+"-gone"); err != nil { // open files can be read, and no new one be made
		t.Fatal(err)
	}
	clock = clock.Add(10 * time.Second)
	if text := s.answers(t, 503, "", "GET", "/api/ready", ""); strings.Contains(text, folder) {
		t.Errorf("it shows a path: %s", text)
	}
	if err := os.Rename(folder+"-gone", folder); err != nil {
		t.Fatal(err)
	}
	clock = clock.Add(10 * time.Second)
	s.answers(t, 200, "", "GET", "/api/ready", "")
	left, err := filepath.Glob(filepath.Join(folder, ".callvet-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func attackFailedJob(t *testing.T) {
	s, m := busy(t), newModel(t, nil)
	suite := s.keepSuite(t, "bo", 3)
	made := stored[jobAnswer](t, s, "bo", "POST", "/api/tool-eval", evalOf(suite, m.URL, ""))
	s.awaitJob(t, "bo", made.JobID, "done")
	path := "/api/jobs/" + made.JobID + "/resume"
	s.answers(t, 409, "bo", "POST", path, "")
	// As a full disk leaves it: some attempts are not there, and the job failed.
	for _, q := range []string{
		"DELETE FROM cells WHERE case_ix > 0", "UPDATE runs SET status = 'interrupted', finished = NULL",
		"UPDATE jobs SET state = 'failed', ran = timeout, error = CAST('the disk is full' AS BLOB)",
	} {
		if _, err := s.db.Handle().ExecContext(t.Context(), q); err != nil {
			t.Fatal(err)
		}
	}
	asked := m.asked.Load()
	s.answers(t, 404, "ana", "POST", path, "")
	s.answers(t, 202, "bo", "POST", path, "")
	j := s.awaitJob(t, "bo", made.JobID, "done")
	if n := m.asked.Load() - asked; n != 2 || j.Error != "" || j.ResultRef != made.ResultRef {
		t.Errorf("%d of 2 missing attempts were asked: %+v", n, j)
	}
}

// costly is a suite of n cases with a schema that is applied a million times to each of them.
func costly(t *testing.T, n int) string {
	t.Helper()
	const depth = 20
	defs := map[string]any{fmt.Sprintf("d%d", depth): map[string]any{"type": "string"}}
	for i := range depth {
		next := map[string]any{"$ref": fmt.Sprintf("#/$defs/d%d", i+1)}
		defs[fmt.Sprintf("d%d", i)] = map[string]any{"allOf": []any{next, next}}
	}
	cases := make([]any, n)
	for i := range cases {
		cases[i] = map[string]any{
			"id": fmt.Sprint("c", i), "prompt": fmt.Sprint("p", i),
			"expect": map[string]any{"calls": []any{map[string]any{"tool": "f", "args": map[string]any{"x": "v"}}}},
		}
	}
	b, err := json.Marshal(map[string]any{"callvet": 1, "name": "x", "cases": cases, "tools": []any{map[string]any{
		"name": "f", "description": "d",
		"parameters": map[string]any{
			"type":       "object",
			"properties": map[string]any{"x": map[string]any{"$ref": "#/$defs/d0"}}, "$defs": defs,
		},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func attackSchemas(t *testing.T) {
	s := newSite(t, func(c *api.Config) { c.ReadFor = 500 * time.Millisecond })
	text := costly(t, 5000)
	if text := s.answers(t, 429, "bo", "POST", "/api/tool-eval/import", text); !strings.Contains(text,
		"longer than a request may") {
		t.Errorf("the reason is not given: %s", text)
	}
	lint, err := json.Marshal(map[string]string{"text": text})
	if err != nil {
		t.Fatal(err)
	}
	if text := s.answers(t, 200, "vera", "POST", "/api/lint", string(lint)); !strings.Contains(text,
		"longer than a request may") || strings.Contains(text, `"ok":true`) {
		t.Errorf("lint: %s", text)
	}
	s = newSite(t, func(c *api.Config) { c.ReadFor = 24 * time.Hour }) // a client that goes away ends the work
	ended := make(chan struct{})
	watched := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer close(ended)
		s.srv.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(watched.CloseClientConnections)
	ctx, cancel := context.WithTimeout(t.Context(), clientGoing)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, watched.URL+"/api/tool-eval/import",
		strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+account.TokenPrefix+"bo")
	req.Header.Set("Content-Type", "application/json")
	if res, err := s.Client().Do(req); err == nil {
		_ = res.Body.Close()
		t.Fatalf("it was answered at once: %d", res.StatusCode)
	}
	select {
	case <-ended:
	case <-time.After(2 * time.Minute): // the work takes hours
		t.Error("the work goes on after the client is gone")
	}
}
