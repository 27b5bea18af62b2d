// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package report

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"image"
	_ "image/png" // screenshots
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/google/go-cmp/cmp"
)

// browser is a headless Chromium, driven by its DevTools protocol over a pipe.
type browser struct {
	t       *testing.T
	w       io.Writer
	r       *bufio.Reader
	session string
	id      int
	events  []message
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct{ Message string }
}

// chromium finds the browser: $CALLVET_CHROMIUM or a usual name on the path.
func chromium() string {
	for _, name := range []string{os.Getenv("CALLVET_CHROMIUM"), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

func openBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("starts a browser, which needs much memory; make unit runs it")
	}
	path := chromium()
	if path == "" {
		t.Skip(
			"SKIPPED: no Chromium on the path and $CALLVET_CHROMIUM is not set: the HTML face is not seen by a browser")
	}
	ctx, cancel := context.WithTimeout(context.Background(), 90*time.Second)
	// Not t.TempDir: a browser that writes on while it ends must not fail the test.
	profile, err := os.MkdirTemp("", "callvet-browser-") //nolint:usetesting // see above
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(ctx, path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
		"--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--window-size=1200,900",
		"--user-data-dir="+profile, "--remote-debugging-pipe", "about:blank")
	theirIn, ourOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ourIn, theirOut, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	cmd.ExtraFiles, cmd.Stderr, cmd.WaitDelay = []*os.File{theirIn, theirOut}, &said, 5*time.Second
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = theirIn.Close(), theirOut.Close()
	b := &browser{t: t, w: ourOut, r: bufio.NewReader(ourIn)}
	t.Cleanup(func() {
		_, _ = io.WriteString(b.w, `{"id":999999,"method":"Browser.close"}`+"\x00")
		_, _ = io.Copy(io.Discard, b.r) // until the browser has closed its end
		_, _ = ourOut.Close(), ourIn.Close()
		_ = cmd.Wait() // its exit code does not depend on the page
		cancel()
		_ = os.RemoveAll(profile)
		if t.Failed() {
			t.Logf("chromium: %s", plain.Limited(said.String(), 4000))
		}
	})
	var page struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &page)
	var s struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": page.TargetID, "flatten": true}, &s)
	b.session = s.SessionID
	for _, domain := range []string{"Page", "Runtime", "Log", "Network"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// read returns the browser's next message.
func (b *browser) read() message {
	b.t.Helper()
	raw, err := b.r.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("browser is gone: %v", err)
	}
	var m message
	if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
		b.t.Fatalf("browser said %q: %v", raw, err)
	}
	return m
}

func (b *browser) call(method string, params, into any) {
	b.t.Helper()
	b.id++
	m := map[string]any{"id": b.id, "method": method}
	if params != nil {
		m["params"] = params
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	raw, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.w.Write(append(raw, 0)); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
	for {
		got := b.read()
		if got.ID != b.id {
			b.events = append(b.events, got)
			continue
		}
		if got.Error != nil {
			b.t.Fatalf("%s: %s", method, got.Error.Message)
		}
		if into != nil {
			if err := json.Unmarshal(got.Result, into); err != nil {
				b.t.Fatalf("%s: %v", method, err)
			}
		}
		return
	}
}

// open loads a page from a file and waits until it and its scripts are done.
func (b *browser) open(html []byte) {
	b.t.Helper()
	path := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(path, html, 0o600); err != nil {
		b.t.Fatal(err)
	}
	b.events = nil
	b.call("Page.navigate", map[string]any{"url": (&url.URL{Scheme: "file", Path: filepath.ToSlash(path)}).String()},
		nil)
	for !slices.ContainsFunc(b.events, func(m message) bool { return m.Method == "Page.loadEventFired" }) {
		b.events = append(b.events, b.read())
	}
}

// eval returns the value of an expression in the page, as JSON.
func (b *browser) eval(js string) string {
	b.t.Helper()
	var out struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails json.RawMessage
	}
	b.call("Runtime.evaluate",
		map[string]any{"expression": "JSON.stringify(" + js + ") ?? 'undefined'", "returnByValue": true}, &out)
	var s string
	if out.ExceptionDetails != nil || json.Unmarshal(out.Result.Value, &s) != nil {
		b.t.Fatalf("%s: %s", js, out.ExceptionDetails)
	}
	return s
}

// click presses the mouse in the middle of an element.
func (b *browser) click(selector string) {
	b.t.Helper()
	var at [2]float64
	where := b.eval(
		fmt.Sprintf(
			`(e => { e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return [r.x + r.width/2, r.y + r.height/2] })(document.querySelector(%q))`, selector))
	if err := json.Unmarshal([]byte(where), &at); err != nil {
		b.t.Fatal(err)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent",
			map[string]any{"type": kind, "x": at[0], "y": at[1], "button": "left", "clickCount": 1}, nil)
	}
}

// complaints are console messages, script errors, broken policies and requests
// other than for the page itself.
func (b *browser) complaints() []string {
	b.t.Helper()
	b.eval("1") // everything the page did before is reported before the answer
	var out []string
	requests := 0
	for _, m := range b.events {
		switch m.Method {
		case "Log.entryAdded", "Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening":
			out = append(out, m.Method+" "+string(m.Params))
		case "Network.requestWillBeSent":
			if requests++; requests > 1 {
				out = append(out, "request "+string(m.Params))
			}
		}
	}
	return out
}

// shot returns a picture of the page; it must not be blank.
func (b *browser) shot(name string) image.Image {
	b.t.Helper()
	var out struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png"}, &out)
	raw, err := base64.StdEncoding.DecodeString(out.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	img, _, err := image.Decode(bytes.NewReader(raw))
	if err != nil {
		b.t.Fatal(err)
	}
	colors := map[[4]uint32]bool{}
	for y := img.Bounds().Min.Y; y < img.Bounds().Max.Y; y += 2 {
		for x := img.Bounds().Min.X; x < img.Bounds().Max.X; x += 2 {
			r, g, bl, a := img.At(x, y).RGBA()
			colors[[4]uint32{r, g, bl, a}] = true
		}
	}
	if len(colors) < 8 {
		b.t.Errorf("%s: the page is blank: %d colors", name, len(colors))
	}
	return img
}

// visible are the names of the attempts that the list shows, in its order.
const visible = `[...document.querySelectorAll("#list > details")].filter(e => e.offsetParent).map(e => e.dataset.case)`

func TestBrowserDrivesThePage(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	b.open(write(t, HTML, sampleView()))
	check := func(what, js, want string) {
		t.Helper()
		if got := b.eval(js); got != want {
			t.Errorf("%s: %s, want %s", what, got, want)
		}
	}
	all := []string{"flight-date", "hotel-nights", "hostile-text", "weather-tomorrow"}
	list := func(names ...string) string {
		raw, _ := json.Marshal(names)
		return string(raw)
	}
	check("as run", visible, list(all...))
	check("counter", `document.getElementById("shown").textContent`, `"4 of 4 shown"`)

	b.click("#q")
	b.call("Input.insertText", map[string]any{"text": "LISBON"}, nil)
	check("typed text filters", visible, list("hotel-nights"))
	check("counter", `document.getElementById("shown").textContent`, `"1 of 4 shown"`)
	const button = `document.getElementById("expand").textContent`
	const open = `document.querySelectorAll("#list > details[open]").length`
	check("what is shown is open", button, `"Close all"`)
	b.click("#expand")
	check("the button closes what is shown", open, "2")
	check("and says what it does next", button, `"Open all"`)
	b.eval(`(q => { q.value = ""; q.dispatchEvent(new Event("input")) })(document.getElementById("q"))`)

	pick := func(id, value string) {
		b.eval(
			fmt.Sprintf(
				`(s => { s.value = %q; s.dispatchEvent(new Event("change")); return s.value })(document.getElementById(%q))`, value, id))
	}
	pick("class", "missed_call")
	check("class filters", visible, list("hotel-nights"))
	pick("class", "")
	pick("sort", "case")
	sorted := slices.Sorted(slices.Values(all))
	check("sorted", visible, list(sorted...))
	pick("sort", "")
	check("order as run comes back", visible, list(all...))

	b.click("#list > details[data-case=weather-tomorrow] > summary")
	check("a click opens an attempt",
		`document.querySelector("#list > details[data-case=weather-tomorrow]").open`, "true")
	for _, want := range []string{"4", "0"} {
		b.click("#expand")
		check("the button opens and closes all", open, want)
	}
	check("the expected value is marked beside the actual",
		`document.querySelector("table.diff ins").textContent + "/" + document.querySelector("table.diff del").textContent`, `"3-01/1-03"`)
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains:\n%s", strings.Join(bad, "\n"))
	}
}

func TestBrowserShowsThePageEverywhere(t *testing.T) {
	t.Parallel()
	b := openBrowser(t)
	v := sampleView()
	v.Targets[0].Name = "vendor/" + strings.Repeat("a-long-name-of-a-model", 4)
	v.Panels.Targets[0].Name = v.Targets[0].Name
	v.Suite.Name = strings.Repeat("suite_without_break", 6)
	b.open(write(t, HTML, v))
	scheme := func(name string) image.Image {
		b.call("Emulation.setEmulatedMedia",
			map[string]any{"features": []map[string]string{{"name": "prefers-color-scheme", "value": name}}}, nil)
		return b.shot(name)
	}
	light, dark := scheme("light"), scheme("dark")
	lr, _, _, _ := light.At(2, 300).RGBA()
	dr, _, _, _ := dark.At(2, 300).RGBA()
	if lr < 0xc000 || dr > 0x4000 {
		t.Errorf("background is %x in light and %x in dark", lr, dr)
	}
	for _, width := range []int{1280, 800, 390, 320} {
		b.call("Emulation.setDeviceMetricsOverride",
			map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
		b.shot(fmt.Sprint(width))
		if got := b.eval("document.documentElement.scrollWidth <= window.innerWidth"); got != "true" {
			t.Errorf("at %d pixels the page scrolls sideways", width)
		}
	}
	b.call("Emulation.setScriptExecutionDisabled", map[string]any{"value": true}, nil)
	b.open(write(t, HTML, sampleView()))
	if got := b.eval(`[document.querySelector(".tools").offsetParent === null, ` + visible +
		`.length]`); got != "[true,4]" {
		t.Errorf("without its script: %s", got)
	}
}

// hostile is text that would run in a page that does not escape it.
const hostile = `"'></script></style><script>window.pwned=1</script><img src=x onerror=window.pwned=2><svg onload=window.pwned=3>` +
	`<a href="javascript:window.pwned=4">{{.}}${window.pwned=5}` + "`" + `<!--`

func TestBrowserRunsNothingHostile(t *testing.T) {
	t.Parallel()
	cases := sampleCases()
	cells := sampleCells(cases)
	for i := range cases {
		c := &cases[i]
		c.ID, c.Tags, c.Fields = c.ID+hostile, []string{hostile},
			map[string]string{"category": hostile + c.Fields["category"]}
		c.Input = []callvet.Turn{{Role: callvet.RoleUser, Content: hostile}}
	}
	text, _ := json.Marshal(hostile)
	for i := range cells {
		c := &cells[i]
		c.Trace.Answer, c.Trace.Model, c.Trace.FinishReason, c.Trace.Repairs = hostile, hostile, hostile,
			[]string{hostile}
		c.Trace.Turns = append(c.Trace.Turns,
			callvet.Turn{
				Role: hostile, Tool: hostile, Content: hostile, Reasoning: hostile,
				Calls: []callvet.Call{{Tool: hostile, Args: text}},
			})
		c.Trace.Exchanges = []callvet.Exchange{{Request: text, Response: hostile, Error: hostile}}
		c.Result.Reason, c.Result.Plan = hostile, hostile
		c.Result.Assertions = append(c.Result.Assertions,
			callvet.Assertion{Name: hostile, State: callvet.AssertFailed, Expected: hostile, Actual: hostile},
			callvet.Assertion{Name: hostile, State: callvet.AssertNotEvaluated, Reason: hostile, Expected: hostile})
		c.Result.Calls = append(c.Result.Calls, callvet.CallMatch{
			State: callvet.StatePartial, Want: []string{hostile}, Got: hostile, Note: hostile,
			Args: []callvet.ArgDiff{{
				Path: hostile, Expected: text, Actual: raw(`"x"`), Rule: hostile,
				Note: hostile,
			}},
			Violations: []callvet.Violation{{Path: hostile, Message: hostile}},
		})
	}
	v := viewOf(cases, cells)
	v.Suite.Name, v.Suite.Description, v.ID, v.Next = hostile, hostile, hostile, []string{hostile}
	v.Manifest = []Field{{hostile, hostile}}
	v.Targets[0].Name, v.Targets[0].Provider, v.Targets[0].Model = hostile, hostile, hostile
	v.Panels.Targets[0].Name = hostile
	v.Panels.Warnings = append(v.Panels.Warnings, hostile)

	b := openBrowser(t)
	b.open(write(t, HTML, v))
	b.eval(`document.querySelectorAll("details").forEach(e => e.open = true)`)
	got := b.eval(
		`[typeof window.pwned, document.scripts.length, document.styleSheets.length, document.querySelectorAll("img, a[href^=javascript], [onerror], [onload]").length]`)
	if d := cmp.Diff(`["undefined",1,1,0]`, got); d != "" {
		t.Errorf("marker, scripts, styles, foreign elements (-want +got):\n%s", d)
	}
	if bad := b.complaints(); len(bad) > 0 {
		t.Errorf("the page complains:\n%s", strings.Join(bad, "\n"))
	}

	// What the checks look for is seen when it is there.
	b.open(bytes.Replace(write(t, HTML, v), []byte("</main>"),
		[]byte("</main><script>window.pwned=1</script><img src=http://callvet.invalid/x.png>"), 1))
	if got := b.eval("typeof window.pwned"); got != `"undefined"` {
		t.Error("the page's policy lets a foreign script run")
	}
	if len(b.complaints()) < 2 {
		t.Error("a broken policy is not noticed")
	}
	b.open([]byte("<!doctype html><script>window.pwned=1</script>"))
	if got := b.eval("typeof window.pwned"); got != `"number"` {
		t.Error("a page without a policy does not set the marker: the test proves nothing")
	}
}
