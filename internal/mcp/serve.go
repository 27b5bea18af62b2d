// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/sys"
)

// Defaults of a Serving.
const (
	DefaultMaxTalks = 64
	DefaultIdle     = 30 * time.Minute
	// maxWaiting bounds the unanswered calls of one conversation.
	maxWaiting = 128
)

// sessionless is the first protocol version without sessions over HTTP.
const sessionless = "2026-07-28"

// Talk is one conversation of an agent with tools, from its first request to its end. Calls begin
// in the order that the agent sent them: each begins when the previous one has returned or called
// next. Other requests may come at any time. Close is called once, after all have returned.
type Talk interface {
	// Greeting is the description of the server for the agent.
	Greeting() Greeting
	// Tools are the definitions of the tools, in the form of the protocol.
	Tools(ctx context.Context) ([]json.RawMessage, error)
	// Call answers a call with a result in the form of the protocol. An *UnknownToolError becomes
	// the protocol's error. next lets the following call begin before this one returns; it may be
	// called several times, or not at all.
	Call(ctx context.Context, tool string, args json.RawMessage, next func()) (json.RawMessage, error)
	// Forward answers any other request; callvet.ErrUnavailable: the server does not have the
	// method.
	Forward(ctx context.Context, method string, params json.RawMessage) (json.RawMessage, error)
	Close() error
}

// Greeting is a server's description of itself at the start of a conversation.
type Greeting struct {
	Name, Title, Version, Instructions string
	// Resources, Prompts, Completions: Forward answers requests for them.
	Resources, Prompts, Completions bool
}

// Hello describes an agent at the start of its conversation.
type Hello struct {
	// Client and Version are its own name and version.
	Client, Version string
	// Query is the query of the HTTP address, without the name of the session.
	Query map[string]string
	// Changed notifies the agent that the tools have changed. It returns at once.
	Changed func()
}

// UnknownToolError is the error of a call of an unknown tool.
type UnknownToolError struct{ Tool string }

// Error implements error.
func (e *UnknownToolError) Error() string { return fmt.Sprintf("unknown tool %q", e.Tool) }

// Serving is an MCP server of this program. Open is required.
type Serving struct {
	// Open begins a conversation. The agent gets its error.
	Open func(ctx context.Context, h Hello) (Talk, error)
	// MaxBytes bounds one message of an agent; 0: DefaultMaxBytes.
	MaxBytes int
	// MaxTalks bounds the open conversations over HTTP; 0: DefaultMaxTalks. A conversation without
	// messages for Idle is closed; 0: DefaultIdle.
	MaxTalks int
	Idle     time.Duration
	// Hosts are further allowed host names over HTTP, in addition to those of this machine and its
	// own address.
	Hosts []string
	// Now is the clock; nil: time.Now.
	Now func() time.Time

	mu     sync.Mutex
	open   map[*desk]struct{}
	named  map[string]*desk // conversations by address, of clients without sessions
	bug    *sys.Panic
	over   <-chan struct{} // closed when the server ends, and all requests with it
	cancel context.CancelFunc
	owner  sys.Group
	errs   []error // of closed conversations
}

// start prepares the shared state of conversations. end closes them all, and returns their errors
// or panics with the panic of a request.
func (s *Serving) start(ctx context.Context) context.Context {
	if s.MaxBytes <= 0 {
		s.MaxBytes = DefaultMaxBytes
	}
	if s.MaxTalks <= 0 {
		s.MaxTalks = DefaultMaxTalks
	}
	if s.Idle <= 0 {
		s.Idle = DefaultIdle
	}
	if s.Now == nil {
		s.Now = time.Now
	}
	s.open, s.named = map[*desk]struct{}{}, map[string]*desk{}
	ctx, s.cancel = context.WithCancel(ctx)
	s.over = ctx.Done()
	return ctx
}

func (s *Serving) end() error {
	s.cancel()
	s.owner.Wait()
	s.mu.Lock()
	left := make([]*desk, 0, len(s.open))
	for d := range s.open {
		left = append(left, d)
	}
	s.mu.Unlock()
	for _, d := range left {
		d.close()
	}
	if s.bug != nil {
		panic(s.bug)
	}
	return errors.Join(s.errs...)
}

// Stdio serves one conversation over in and out, until the agent or ctx ends it.
func (s *Serving) Stdio(ctx context.Context, in io.Reader, out io.Writer) error {
	inner := s.start(ctx)
	d := s.desk()
	lines := &lineWriter{out: out}
	sent := &messages{in: bufio.NewReader(in), out: lines, most: s.MaxBytes}
	ss, err := d.server().Connect(inner, &ordered{
		Transport: &sdk.IOTransport{Reader: sent, Writer: lines, MaxLineLength: s.MaxBytes}, desk: d,
	}, nil)
	if err == nil {
		stop := upon(s.over, func() { _ = ss.Close() })
		err = ss.Wait()
		stop()
	}
	switch {
	case ctx.Err() != nil:
		err = ctx.Err()
	case d.failed != nil: // the agent got the error, too
		err = d.failed
	case sent.nonsense():
		err = &callvet.Fault{Kind: callvet.FaultMalformed, Message: "serve: the agent sent no message of MCP"}
	case errors.Is(err, io.EOF), errors.Is(err, sdk.ErrConnectionClosed), errors.Is(err, io.ErrClosedPipe):
		err = nil
	case err != nil:
		err = &callvet.Fault{Kind: callvet.FaultMalformed, Message: fmt.Sprintf("serve: %v", err)}
	}
	return errors.Join(err, s.end())
}

// upon calls do when over is closed. stop cancels that, and waits for a running do.
func upon(over <-chan struct{}, do func()) (stop func()) {
	off := make(chan struct{})
	var g sys.Group
	g.Go(func() {
		select {
		case <-over:
			do()
		case <-off:
		}
	})
	return func() {
		close(off)
		g.Wait()
	}
}

// desk serves one conversation.
type desk struct {
	of    *Serving
	query map[string]string
	// shared: the conversation is not a session of the SDK; it is found by its address.
	shared bool

	mu         sync.Mutex
	talk       Talk
	failed     error
	closed     bool
	lastActive time.Time
	waiting    int           // unanswered requests
	free       *sync.Cond    // of mu: signals that nothing is waiting
	lined      int           // calls in the queue
	last       chan struct{} // closed when the call after the last one may begin; nil: no call yet
	turn       chan struct{} // closed when the call that was read last is in the queue; nil: none

	// notifying is separate from mu: tools may change while the conversation is being opened.
	notifying sync.Mutex
	servers   map[*sdk.Server]struct{}
}

// desk creates a desk; the conversation is not open yet.
func (s *Serving) desk() *desk {
	d := &desk{of: s, servers: map[*sdk.Server]struct{}{}, lastActive: s.Now()}
	d.free = sync.NewCond(&d.mu)
	return d
}

// begin opens the conversation with its first request. The request ends with done.
func (d *desk) begin(ctx context.Context, req sdk.Request) (t Talk, done func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
		return nil, nil, fmt.Errorf("the conversation is over: %w", callvet.ErrUnavailable)
	case d.failed != nil:
		return nil, nil, d.failed
	case d.waiting >= maxWaiting:
		return nil, nil, fmt.Errorf("more than %d requests wait for their answer: %w", maxWaiting, callvet.ErrLimited)
	}
	if d.talk == nil {
		if err := d.of.admit(d); err != nil {
			return nil, nil, err
		}
		h := Hello{Query: d.query, Changed: d.changed}
		h.Client, h.Version = client(req)
		if d.talk, err = d.of.Open(ctx, h); err != nil {
			d.of.dismiss(d)
			if ctx.Err() == nil {
				d.failed = err
			}
			return nil, nil, err
		}
	}
	d.lastActive = d.of.Now()
	d.waiting++
	return d.talk, func() {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.lastActive = d.of.Now()
		if d.waiting--; d.waiting == 0 {
			d.free.Broadcast()
		}
	}, nil
}

// client is the agent's own name and version.
func client(req sdk.Request) (name, version string) {
	var info *sdk.Implementation
	switch r := req.(type) {
	case *sdk.ServerRequest[*sdk.InitializeParams]:
		if r.Params != nil {
			info = r.Params.ClientInfo
		}
	case *sdk.ServerRequest[*sdk.DiscoverParams]:
		info = r.ClientInfo()
	}
	if ss, ok := req.GetSession().(*sdk.ServerSession); ok && info == nil {
		if p := ss.InitializeParams(); p != nil {
			info = p.ClientInfo
		}
	}
	if info == nil {
		return "", ""
	}
	return info.Name, info.Version
}

// admit counts a conversation. The error wraps callvet.ErrLimited if MaxTalks are open.
func (s *Serving) admit(d *desk) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= s.MaxTalks {
		return fmt.Errorf("%d conversations are open already: %w", len(s.open), callvet.ErrLimited)
	}
	s.open[d] = struct{}{}
	return nil
}

func (s *Serving) dismiss(d *desk) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, d)
}

// close ends the conversation after its last request was answered.
func (d *desk) close() {
	d.mu.Lock()
	over := d.closed
	d.closed = true
	for !over && d.waiting > 0 {
		d.free.Wait()
	}
	d.mu.Unlock()
	if over {
		return
	}
	if d.talk != nil {
		if err := d.talk.Close(); err != nil {
			d.of.mu.Lock()
			d.of.errs = append(d.of.errs, err)
			d.of.mu.Unlock()
		}
	}
	d.of.dismiss(d)
}

// placeholderTool is the only tool that the SDK knows. It is never listed: adding it makes the SDK notify
// the agent of changed tools.
func placeholderTool() *sdk.Tool {
	return &sdk.Tool{Name: "tool", InputSchema: json.RawMessage(`{"type":"object"}`)}
}

func noTool(context.Context, *sdk.CallToolRequest) (*sdk.CallToolResult, error) {
	return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "not answered"}
}

// changed notifies the agent that the tools have changed.
func (d *desk) changed() {
	d.notifying.Lock()
	all := maps.Clone(d.servers)
	d.notifying.Unlock()
	for s := range all {
		s.AddTool(placeholderTool(), noTool)
	}
}

// server makes a server of the SDK that answers from the desk. All requests pass through answer,
// because the SDK would reorder the tools and change their schemas.
func (d *desk) server() *sdk.Server {
	s := sdk.NewServer(&sdk.Implementation{Name: "callvet"}, &sdk.ServerOptions{
		Capabilities: &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}},
		SetCacheable: func(_ context.Context, _ sdk.Request, c *sdk.Cacheable) { c.TTLMs, c.CacheScope = 0, "private" },
	})
	s.AddReceivingMiddleware(func(next sdk.MethodHandler) sdk.MethodHandler {
		return func(ctx context.Context, method string, req sdk.Request) (res sdk.Result, err error) {
			defer func() {
				if p := sys.PanicOf(recover()); p != nil {
					d.of.broke(p)
					res, err = nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "a bug in callvet"}
				}
			}()
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer upon(d.of.over, cancel)()
			return d.answer(ctx, s, method, req, next)
		}
	})
	return s
}

// broke keeps a panic, and the server ends with it.
func (s *Serving) broke(p *sys.Panic) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bug == nil {
		s.bug = p
	}
	s.cancel()
}

// answer answers one request.
func (d *desk) answer(ctx context.Context, s *sdk.Server, method string, req sdk.Request,
	next sdk.MethodHandler,
) (sdk.Result, error) {
	switch method {
	case "subscriptions/listen": // as long as the agent listens
		d.notifying.Lock()
		d.servers[s] = struct{}{}
		d.notifying.Unlock()
		defer func() {
			d.notifying.Lock()
			delete(d.servers, s)
			d.notifying.Unlock()
		}()
		return next(ctx, method, req)
	case "initialize", "server/discover", "tools/list", "tools/call", "resources/list", "resources/templates/list",
		"resources/read", "prompts/list", "prompts/get", "completion/complete":
	default:
		return next(ctx, method, req)
	}
	begun := func() {}
	if method == "tools/call" {
		before, next, answered, err := d.inLine()
		if err != nil {
			return nil, refusal(err)
		}
		defer answered()
		if before != nil {
			<-before // those before end with the same context, or sooner
		}
		begun = next
		if err := ctx.Err(); err != nil {
			return nil, err
		}
	}
	t, done, err := d.begin(ctx, req)
	if err != nil {
		return nil, refusal(err)
	}
	defer done()
	res, err := d.result(ctx, t, s, method, req, next, begun)
	if err != nil {
		return nil, refusal(err)
	}
	if newer(req) {
		g := t.Greeting()
		m := res.GetMeta()
		if m == nil {
			m = map[string]any{}
		}
		m[sdk.MetaKeyServerInfo] = &sdk.Implementation{Name: g.Name, Title: g.Title, Version: g.Version}
		res.SetMeta(m)
	}
	return res, nil
}

// inLine adds a call to the queue. Over stdio the next message is read then. next lets the
// following call begin; answered does too, and releases the place in the queue.
func (d *desk) inLine() (before <-chan struct{}, next, answered func(), err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.turn != nil {
		close(d.turn)
		d.turn = nil
	}
	if d.lined >= maxWaiting {
		return nil, nil, nil, fmt.Errorf("more than %d calls wait for their answer: %w", maxWaiting, callvet.ErrLimited)
	}
	own := make(chan struct{})
	before, d.last = d.last, own
	d.lined++
	next = sync.OnceFunc(func() { close(own) })
	return before, next, func() {
		d.mu.Lock()
		d.lined--
		d.mu.Unlock()
		next()
	}, nil
}

// newer reports whether a request is of a protocol version with answers that name the server.
func newer(req sdk.Request) bool {
	v, ok := req.(interface{ ProtocolVersion() string })
	return ok && v.ProtocolVersion() >= sessionless
}

// refusal is an error in the form of the protocol.
func refusal(err error) error {
	var wire *jsonrpc.Error
	var unknown *UnknownToolError
	switch {
	case errors.As(err, &wire):
		return wire
	case errors.As(err, &unknown):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: unknown.Error()}
	case errors.Is(err, callvet.ErrUnavailable):
		return &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: err.Error()}
	case errors.Is(err, callvet.ErrInvalid), errors.Is(err, callvet.ErrNotFound):
		return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: err.Error()}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}

// result is the result of a request.
func (d *desk) result(ctx context.Context, t Talk, s *sdk.Server, method string, req sdk.Request,
	next sdk.MethodHandler, begun func(),
) (sdk.Result, error) {
	switch method {
	case "initialize", "server/discover":
		return d.greet(ctx, t, s, method, req, next)
	case "tools/list":
		base, err := next(ctx, method, req)
		if err != nil {
			return nil, err
		}
		tools, err := t.Tools(ctx)
		if err != nil {
			return nil, err
		}
		if tools == nil {
			tools = []json.RawMessage{}
		}
		list, err := json.Marshal(tools)
		if err != nil {
			return nil, fmt.Errorf("encode tools: %w", err)
		}
		l, ok := base.(*sdk.ListToolsResult)
		if !ok {
			return nil, fmt.Errorf("list tools: the SDK gave %T: %w", base, errors.ErrUnsupported)
		}
		return &rawList{l, map[string]json.RawMessage{"tools": list}}, nil
	case "tools/call":
		call, ok := req.(*sdk.CallToolRequest)
		if !ok || call.Params == nil || strings.TrimSpace(call.Params.Name) == "" {
			return nil, fmt.Errorf("call: no tool is named: %w", callvet.ErrInvalid)
		}
		if args := call.Params.Arguments; len(args) > 0 && args[0] != '{' && string(args) != "null" {
			return nil, fmt.Errorf("call %s: the arguments are no object: %w", call.Params.Name, callvet.ErrInvalid)
		}
		return verbatim(t.Call(ctx, call.Params.Name, call.Params.Arguments, begun))
	}
	params, err := json.Marshal(req.GetParams())
	if err != nil {
		return nil, fmt.Errorf("encode parameters: %w", err)
	}
	return verbatim(t.Forward(ctx, method, params))
}

// greet begins a conversation: it sends the description and the capabilities of the server.
func (d *desk) greet(ctx context.Context, t Talk, s *sdk.Server, method string, req sdk.Request,
	next sdk.MethodHandler,
) (sdk.Result, error) {
	res, err := next(ctx, method, req)
	if err != nil {
		return nil, err
	}
	g := t.Greeting()
	can := &sdk.ServerCapabilities{Tools: &sdk.ToolCapabilities{ListChanged: true}}
	if g.Resources {
		can.Resources = &sdk.ResourceCapabilities{}
	}
	if g.Prompts {
		can.Prompts = &sdk.PromptCapabilities{}
	}
	if g.Completions {
		can.Completions = &sdk.CompletionCapabilities{}
	}
	switch r := res.(type) {
	case *sdk.InitializeResult:
		r.ServerInfo, r.Instructions, r.Capabilities = &sdk.Implementation{
			Name: g.Name, Title: g.Title,
			Version: g.Version,
		}, g.Instructions, can
	case *sdk.DiscoverResult:
		r.Instructions, r.Capabilities = g.Instructions, can
	}
	d.live(s, req)
	return res, nil
}

// live ends the conversation when its SDK session ends.
func (d *desk) live(s *sdk.Server, req sdk.Request) {
	ss, ok := req.GetSession().(*sdk.ServerSession)
	d.notifying.Lock()
	defer d.notifying.Unlock()
	if _, known := d.servers[s]; known || !ok || d.shared {
		return
	}
	d.servers[s] = struct{}{}
	d.of.owner.Go(func() {
		defer upon(d.of.over, func() { _ = ss.Close() })()
		_ = ss.Wait() // its error does not matter
		d.close()
	})
}

// rawList is a list of tools with unchanged members.
type rawList struct {
	*sdk.ListToolsResult
	members map[string]json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (r *rawList) MarshalJSON() ([]byte, error) { return overlaid(r.ListToolsResult, r.members) }

// rawResult is any other result with unchanged members.
type rawResult struct {
	*sdk.CallToolResult
	members map[string]json.RawMessage
}

// MarshalJSON implements json.Marshaler.
func (r *rawResult) MarshalJSON() ([]byte, error) { return overlaid(r.CallToolResult, r.members) }

// verbatim is a result with the members of raw.
func verbatim(raw json.RawMessage, err error) (sdk.Result, error) {
	if err != nil {
		return nil, err
	}
	r := &rawResult{CallToolResult: &sdk.CallToolResult{}}
	if err := json.Unmarshal(raw, &r.members); err != nil || r.members == nil {
		return nil, fmt.Errorf("the result is no object: %w", callvet.ErrInvalid)
	}
	delete(r.members, "resultType") // perhaps of another version
	var meta map[string]json.RawMessage
	if json.Unmarshal(r.members["_meta"], &meta) == nil { // the protocol's own members are about one connection
		maps.DeleteFunc(meta,
			func(key string, _ json.RawMessage) bool { return strings.HasPrefix(key, "io.modelcontextprotocol/") })
		if delete(r.members, "_meta"); len(meta) > 0 {
			if r.members["_meta"], err = json.Marshal(meta); err != nil {
				return nil, fmt.Errorf("encode result: %w", err)
			}
		}
	}
	return r, nil
}

// overlaid encodes the SDK's members of a result together with the given ones.
func overlaid(info any, members map[string]json.RawMessage) ([]byte, error) {
	b, err := json.Marshal(info)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(b, &all); err != nil {
		return nil, err
	}
	if string(all["content"]) == "null" {
		delete(all, "content")
	}
	meta := all["_meta"]
	maps.Copy(all, members)
	if own := members["_meta"]; meta != nil && own != nil {
		var both map[string]json.RawMessage
		if json.Unmarshal(own, &both) == nil && both != nil && json.Unmarshal(meta, &both) == nil {
			if all["_meta"], err = json.Marshal(both); err != nil {
				return nil, err
			}
		}
	}
	return json.Marshal(all)
}

// ordered reads the next message only when the call before it is in the queue. So concurrent calls
// of an agent are made in the order that it sent them. After the end of the input the conversation
// ends when all requests are answered.
type ordered struct {
	sdk.Transport
	desk *desk
}

// Connect implements sdk.Transport.
func (o *ordered) Connect(ctx context.Context) (sdk.Connection, error) {
	c, err := o.Transport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &orderedConn{
		Connection: c, desk: o.desk, asked: map[jsonrpc.ID]bool{}, twins: map[jsonrpc.ID]jsonrpc.ID{},
		over: make(chan struct{}),
	}, nil
}

type orderedConn struct {
	sdk.Connection
	desk *desk
	wait chan struct{} // of the call that was read last
	once sync.Once
	over chan struct{}

	mu    sync.Mutex
	id    jsonrpc.ID // of the call that was read last
	asked map[jsonrpc.ID]bool
	twins map[jsonrpc.ID]jsonrpc.ID // the agent's ids by their replacements
	fewer chan struct{}             // closed when fewer than below are waiting; nil: no waiter
	below int
}

// fewerThan waits until fewer than n requests are unanswered.
func (c *orderedConn) fewerThan(ctx context.Context, n int) {
	c.mu.Lock()
	if len(c.asked) < n {
		c.mu.Unlock()
		return
	}
	fewer := make(chan struct{})
	c.fewer, c.below = fewer, n
	c.mu.Unlock()
	c.until(ctx, fewer)
}

// Read implements sdk.Connection.
func (c *orderedConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	if c.wait != nil {
		c.until(ctx, c.wait)
		c.wait = nil
	}
	c.fewerThan(ctx, maxWaiting)
	msg, err := c.Connection.Read(ctx)
	if errors.Is(err, io.EOF) {
		c.fewerThan(ctx, 1)
	}
	req, ok := msg.(*jsonrpc.Request)
	if err != nil || !ok || !req.IsCall() || req.Method == "subscriptions/listen" {
		return msg, err
	}
	c.ask(req)
	if req.Method == "tools/call" {
		c.wait = make(chan struct{})
		c.desk.mu.Lock()
		c.desk.turn = c.wait
		c.desk.mu.Unlock()
		c.mu.Lock()
		c.id = req.ID
		c.mu.Unlock()
	}
	return msg, nil
}

// ask records a request. If its id is already in use by an unanswered request, it gets a different
// id until it is answered.
func (c *orderedConn) ask(req *jsonrpc.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if own := req.ID; c.asked[own] {
		for n := len(c.twins); c.asked[req.ID]; n++ {
			req.ID, _ = jsonrpc.MakeID(fmt.Sprintf("callvet twin %d", n)) // a string is a valid id
		}
		c.twins[req.ID] = own
	}
	c.asked[req.ID] = true
}

// until waits for done or the end of the connection.
func (c *orderedConn) until(ctx context.Context, done <-chan struct{}) {
	select {
	case <-done:
	case <-c.over:
	case <-ctx.Done():
	}
}

// Write implements sdk.Connection. A call that is refused before it is in the queue also lets the
// next message be read.
func (c *orderedConn) Write(ctx context.Context, msg jsonrpc.Message) error {
	res, ok := msg.(*jsonrpc.Response)
	if !ok {
		return c.Connection.Write(ctx, msg)
	}
	c.mu.Lock()
	last := res.ID == c.id
	c.mu.Unlock()
	if last {
		c.desk.mu.Lock()
		if c.desk.turn != nil {
			close(c.desk.turn)
			c.desk.turn = nil
		}
		c.desk.mu.Unlock()
	}
	c.mu.Lock()
	if own, twin := c.twins[res.ID]; twin {
		answer := *res
		answer.ID, msg = own, &answer
	}
	c.mu.Unlock()
	err := c.Connection.Write(ctx, msg)
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.asked, res.ID)
	delete(c.twins, res.ID)
	if c.fewer != nil && len(c.asked) < c.below {
		close(c.fewer)
		c.fewer = nil
	}
	return err
}

// Close implements sdk.Connection.
func (c *orderedConn) Close() error {
	c.once.Do(func() { close(c.over) })
	return c.Connection.Close()
}
