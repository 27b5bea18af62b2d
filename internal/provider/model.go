// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package provider

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/message"
	"github.com/callvet/callvet/value"
)

// query is one request as a wire encodes it.
type query struct {
	req     *callvet.Request
	turns   []callvet.Turn // req.Turns with ids that the provider accepts
	params  callvet.Params
	limit   *int   // the limit of the answer, in tokens, whatever its parameter's name
	context int    // the requested context size of a local server, in tokens; 0: none
	choice  string // "", auto, required, none or a tool's name; "" when nothing is offered
	tools   []byte // encoded; nil without offered tools
	// toolSum is the SHA-256 of tools.
	toolSum [sha256.Size]byte
	stream  bool
	// form is the required form of the answer; nil: any text.
	form *callvet.AnswerForm
}

// wire is one provider's form of requests and answers.
type wire interface {
	// tools encodes the member "tools".
	tools(ts *callvet.Toolset) []byte
	// head appends the request up to, and without, the tools and the last brace.
	head(b []byte, q *query) []byte
	// read fills resp (one turn) from a whole answer. The error is a *callvet.Fault if the answer
	// reports an error, else it names the missing member.
	read(root value.Value, q *query, resp *callvet.Response) error
	// deltas returns a reader for a streamed answer.
	deltas() deltas
}

// model is a callvet.Model over HTTP.
type model struct {
	wire    wire
	client  *http.Client
	url     string
	header  http.Header
	sender  []byte // URL and headers without the key, and the account of the key
	hide    redactor
	policy  policy
	fit     func(id string) string
	price   *Price
	timeout time.Duration
	maxBody int64
	stream  bool
	// own: a server of the user, which may have a small context.
	own bool
	// noChoice: the API knows no tool_choice.
	noChoice bool
	now      func() time.Time
	offers   offers
	// refused are the provider's refusals; note is called once for each.
	refused refusals
	note    func(what string)
	spec    string
	// other is the same model in its other API; nil: none.
	other *model
}

// Generate sends one request. If the provider refuses a part that can be omitted, or wants its
// other API, it sends a changed request. It never retries. Every error is a *callvet.Fault with its
// exchanges.
func (m *model) Generate(ctx context.Context, req *callvet.Request) (*callvet.Response, error) {
	q := m.query(req)
	asked := q.params
	var before []callvet.Exchange
	for {
		if m.other != nil && m.refused.has(responsesAPI) {
			return m.elsewhere(ctx, req, before)
		}
		m.yield(q)
		resp, fault := m.attempt(ctx, q)
		if fault == nil {
			resp.Exchanges = append(before, resp.Exchanges...)
			resp.Omitted = append(resp.Omitted, m.omitted(req, &asked, q)...)
			return resp, nil
		}
		before = append(before, fault.Exchanges...)
		if !m.moves(fault) && !m.learns(q, fault) && !m.grows(ctx, q, fault) {
			fault.Exchanges = before
			return nil, fault
		}
	}
}

// moves records that the provider wants such requests in its other API.
func (m *model) moves(fault *callvet.Fault) bool {
	if m.other == nil || fault.HTTP != http.StatusBadRequest || !strings.Contains(fault.Message, "/v1/responses") {
		return false
	}
	m.learn(responsesAPI, "the Responses API is used from here on, which has no seed and no stop sequences", fault)
	return true
}

// elsewhere sends the request to the provider's other API.
func (m *model) elsewhere(ctx context.Context, req *callvet.Request,
	before []callvet.Exchange,
) (*callvet.Response, error) {
	resp, err := m.other.Generate(ctx, req)
	if err != nil {
		var fault *callvet.Fault
		if errors.As(err, &fault) {
			fault.Exchanges = append(before, fault.Exchanges...)
		}
		return nil, err
	}
	resp.Exchanges = append(before, resp.Exchanges...)
	asked, sent := m.query(req), m.other.query(req)
	for _, name := range m.omitted(req, &asked.params, sent) {
		if !slices.Contains(resp.Omitted, name) {
			resp.Omitted = append(resp.Omitted, name)
		}
	}
	return resp, nil
}

// query converts req for this model.
func (m *model) query(req *callvet.Request) *query {
	q := &query{
		req: req, turns: withIDs(req.Turns, m.fit), params: m.policy.adjust(req.Params, nil), stream: m.stream,
		form: req.Form,
	}
	m.shape(q)
	req = q.req
	q.limit = q.params.MaxTokens
	if req.Tools != nil && len(req.Tools.Tools) > 0 {
		o := m.offers.get(req.Tools, m.wire.tools)
		q.tools, q.toolSum, q.choice = o.body, o.sum, req.ToolChoice
		switch {
		case !m.noChoice || q.choice == "" || q.choice == choiceAuto:
		case q.choice == choiceNone:
			q.tools, q.toolSum, q.choice = nil, [sha256.Size]byte{}, "" // without tools, "none" needs no choice
		default:
			q.choice = choiceAuto
		}
	}
	return q
}

// Identity is the SHA-256 of the request as Generate sends it: the address with
// its query, the headers without the key, and the body. Requests of one identity
// are the same question to the same deployment.
func (m *model) Identity(req *callvet.Request) (sum [sha256.Size]byte) {
	q := m.query(req)
	h := sha256.New()
	h.Write(m.sender)
	h.Write(m.wire.head(make([]byte, 0, headSize(q)), q))
	h.Write(q.toolSum[:])
	h.Sum(sum[:0])
	return sum
}

// sender identifies the endpoint and the account.
func sender(url string, plain http.Header, account string) []byte {
	b, err := json.Marshal([]any{http.MethodPost, url, plain, account}) // the keys of a map are sorted
	if err != nil {
		panic(err) // texts always encode
	}
	return b
}

func (m *model) attempt(ctx context.Context, q *query) (*callvet.Response, *callvet.Fault) {
	outer := ctx
	if m.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, m.timeout)
		defer cancel()
	}
	body, brief := m.encode(q)
	ex := callvet.Exchange{Request: brief}
	start := m.now()
	ans, fault := m.exchange(outer, ctx, body, start)
	ex.MS = float64(m.now().Sub(start).Microseconds()) / 1000
	ex.HTTP, ex.Response = ans.status, m.hide.kept(ans.body)
	resp := &callvet.Response{FirstToken: ans.first}
	if fault == nil {
		ex.Parsed, fault = m.decode(&ans, q, resp)
	}
	if fault == nil && m.own {
		fault = wasCut(&resp.Usage, q)
	}
	if fault != nil {
		fault.Message = m.hide.text(fault.Message)
		ex.Error = fault.Message
		fault.Exchanges = []callvet.Exchange{ex}
		if fault.Billable() {
			u := callvet.Usage{}
			m.price.apply(&u, taken{sent: len(body), text: len(ans.body), max: q.limit, open: true})
			fault.AtMostUSD = u.AtMostUSD
		}
		return nil, fault
	}
	resp.Exchanges = []callvet.Exchange{ex}
	m.settle(q, len(body), resp)
	formed(q, resp)
	return resp, nil
}

// encode returns the request's bytes and the stored form; there a hash replaces the tools.
func (m *model) encode(q *query) (body, brief []byte) {
	body = m.wire.head(make([]byte, 0, headSize(q)+len(q.tools)), q)
	if q.tools == nil {
		body = append(body, '}')
		return body, m.hide.bytes(body)
	}
	body = append(body, `,"tools":`...)
	brief = make([]byte, 0, len(body)+len(q.req.Tools.Hash)+16)
	brief = append(append(brief, body...), `{"$tools":"`...)
	brief = append(append(brief, q.req.Tools.Hash...), `"}}`...)
	body = append(append(body, q.tools...), '}')
	return body, m.hide.bytes(brief)
}

func headSize(q *query) int {
	n := 512 + len(q.req.System)
	for i := range q.turns {
		t := &q.turns[i]
		n += 96 + len(t.Content) + len(t.Raw)
		for j := range t.Calls {
			n += 128 + 2*len(t.Calls[j].Args)
		}
	}
	return n
}

// decode reads a whole JSON answer; a streamed one is already decoded.
func (m *model) decode(ans *answer, q *query, resp *callvet.Response) (kept callvet.Parsed, f *callvet.Fault) {
	var err error
	switch {
	case ans.refused != "":
		refuse(resp, ans.refused)
	case ans.streamed != nil:
		err = ans.streamed.finish(q, resp)
		resp.Note(ans.made.Note())
	default:
		root, made, bad := value.Read(ans.body)
		if bad != nil {
			return kept, malformed(ans.status, fmt.Sprintf("the answer is not JSON: %v", bad))
		}
		resp.Note(made.Note())
		err = m.wire.read(root, q, resp)
		kept = callvet.ParsedOf(root)
	}
	switch {
	case err == nil:
		return kept, nil
	case errors.As(err, &f):
		return kept, f
	}
	return kept, malformed(ans.status, err.Error())
}

// settle does the steps common to all wires: calls in the text, ids, repairs, cost. sent is how
// many bytes the request had.
func (m *model) settle(q *query, sent int, resp *callvet.Response) {
	turn := &resp.Turns[0]
	if q.tools != nil {
		resp.ToolChoice = q.choice
		if q.choice == "" {
			resp.ToolChoice = choiceAuto
		}
	}
	if t := q.req.Tools; t != nil && len(t.Tools) > 0 && len(turn.Calls) == 0 && !resp.Unreadable {
		found := message.CallsFromText(turn.Content, t)
		turn.Calls, resp.Unreadable = found.Calls, found.Unreadable
	}
	message.Thoughts(turn)
	for i := range turn.Calls {
		c := &turn.Calls[i]
		if c.ID == "" {
			c.ID, turn.Raw = ownID(len(q.turns), i), nil
		}
		if slices.Contains(c.Repairs, message.InName) {
			turn.Raw = nil
		}
		for _, r := range c.Repairs {
			if !slices.Contains(resp.Repairs, r) {
				resp.Repairs = append(resp.Repairs, r)
			}
		}
	}
	text := size(turn)
	if u := &resp.Usage; u.Known && (u.InputTokens == 0 || u.OutputTokens == 0 && text > 0) {
		*u = callvet.Usage{Note: fmt.Sprintf("%d tokens of input and %d of output are reported, and there was text",
			u.InputTokens, u.OutputTokens)}
	}
	m.price.apply(&resp.Usage, taken{sent: sent, text: text, max: q.limit})
}

// size is how many bytes of text a turn has, arguments and names included.
func size(t *callvet.Turn) int {
	n := len(t.Content) + len(t.Reasoning)
	for i := range t.Calls {
		c := &t.Calls[i]
		n += len(c.Tool) + max(len(c.Args), len(c.ArgsRaw))
	}
	return n
}

// offers caches the encoded tools of the latest toolsets.
type offers struct {
	mu   sync.RWMutex
	seen map[string]offer
}

// offer is a toolset as a wire encodes it, with its SHA-256.
type offer struct {
	body []byte
	sum  [sha256.Size]byte
}

// maxOffers bounds the cache: a suite has few toolsets, but cases with their own tools may have
// many.
const maxOffers = 1024

func (o *offers) get(ts *callvet.Toolset, encode func(*callvet.Toolset) []byte) offer {
	o.mu.RLock()
	known, ok := o.seen[ts.Hash]
	o.mu.RUnlock()
	if ok && ts.Hash != "" {
		return known
	}
	body := encode(ts)
	made := offer{body, sha256.Sum256(body)}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.seen == nil || len(o.seen) >= maxOffers {
		o.seen = make(map[string]offer)
	}
	o.seen[ts.Hash] = made
	return made
}
