// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package api

import (
	"cmp"
	"context"
	"net/http"
	"strconv"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/job"
)

// metrics are the counters for monitoring. No label names a user or an object.
type metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
}

// scrapeTime bounds the store's queries of one scrape.
const scrapeTime = 5 * time.Second

// NewMetrics registers the metrics of the server.
func (s *Server) NewMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "callvet_http_requests_total",
			Help: "Requests that were answered, by route and status.",
		}, []string{"route", "status"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "callvet_http_request_duration_seconds",
			Help:    "How long answers took, by route, without sockets and streams.",
			Buckets: []float64{0.005, 0.025, 0.1, 0.5, 1, 5, 30, 120},
		}, []string{"route"}),
	}
	m.registry.MustRegister(m.requests, m.seconds, &counted{s: s}, collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// count counts a response. Its label is the pattern of the route, so that the number of labels is
// bounded.
func (m *metrics) count(r *http.Request, w *watched, took time.Duration) {
	route := cmp.Or(r.Pattern, "none")
	m.requests.WithLabelValues(route, strconv.Itoa(w.code())).Inc()
	if w.code() != http.StatusSwitchingProtocols && w.Header().Get("Content-Type") != streamType {
		m.seconds.WithLabelValues(route).Observe(took.Seconds())
	}
}

// counted collects jobs, events and connections at each scrape.
type counted struct{ s *Server }

// countedNames are the metrics of counted.
type countedNames struct{ jobs, done, total, shards, events, sockets, followers *prometheus.Desc }

func newCountedNames() countedNames {
	name := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, labels, nil)
	}
	return countedNames{
		jobs:  name("callvet_jobs", "Jobs that the store has, by state.", "state"),
		done:  name("callvet_running_jobs_done", "Attempts that the jobs which run have done."),
		total: name("callvet_running_jobs_total", "Attempts that the jobs which run have to do."),
		shards: name("callvet_shards",
			"Shards of runs that wait for a worker (queued), or that one has (running).", "state"),
		events:  name("callvet_events_total", "Events that were sent to users, ever."),
		sockets: name("callvet_sockets", "WebSockets that are open."),
		followers: name("callvet_followers",
			"Connections that follow events: WebSockets that are logged in, and streams."),
	}
}

// Describe implements prometheus.Collector.
func (c *counted) Describe(to chan<- *prometheus.Desc) {
	n := newCountedNames()
	for _, d := range []*prometheus.Desc{n.jobs, n.done, n.total, n.shards, n.events, n.sockets, n.followers} {
		to <- d
	}
}

// Collect implements prometheus.Collector. A failed query of the store fails the whole scrape.
func (c *counted) Collect(to chan<- prometheus.Metric) {
	of := newCountedNames()
	ctx, stop := context.WithTimeout(context.Background(), scrapeTime)
	defer stop()
	q := c.s.Config.Store.Rows()
	list, err := q.JobsByState(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(of.jobs, err)
		return
	}
	events, err := q.EventsTold(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(of.events, err)
		return
	}
	parts, err := q.PartsByState(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(of.shards, err)
		return
	}
	put := func(d *prometheus.Desc, kind prometheus.ValueType, v int64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, kind, float64(v), labels...)
	}
	n := map[job.State]int64{}
	var didRunning, ofRunning int64
	for _, r := range list {
		n[job.State(r.State)] = r.N
		if job.State(r.State) == job.Running {
			didRunning, ofRunning = r.Done, r.Total
		}
	}
	for _, state := range []job.State{
		job.Pending, job.Queued, job.Running, job.Done, job.Failed, job.Cancelled,
		job.Interrupted,
	} {
		put(of.jobs, prometheus.GaugeValue, n[state], string(state))
	}
	put(of.done, prometheus.GaugeValue, didRunning)
	put(of.total, prometheus.GaugeValue, ofRunning)
	shards := map[string]int64{}
	for _, r := range parts {
		shards[r.State] = r.N
	}
	for _, state := range []job.State{job.Queued, job.Running} {
		put(of.shards, prometheus.GaugeValue, shards[string(state)], string(state))
	}
	put(of.events, prometheus.CounterValue, events)
	open, all := c.s.Live.count()
	put(of.sockets, prometheus.GaugeValue, int64(open))
	put(of.followers, prometheus.GaugeValue, int64(all))
}

// AddMetrics adds the metrics for Prometheus. They show how much the server is used, and are for
// admins unless the server opens them.
func (s *Server) AddMetrics() {
	may := Access{Role: account.Admin, Scope: account.ScopeRead}
	if s.Config.MetricsOpen {
		may = Access{Open: true}
	}
	to := promhttp.HandlerFor(s.Metrics.registry, promhttp.HandlerOpts{DisableCompression: true})
	Add(s, huma.Operation{
		OperationID: "metrics", Method: http.MethodGet, Path: "/metrics",
		Summary: "Metrics in the text form of Prometheus", Tags: []string{"operations"},
		Responses: map[string]*huma.Response{"200": {
			Description: "metrics",
			Content:     map[string]*huma.MediaType{"text/plain": {Schema: &huma.Schema{Type: huma.TypeString}}},
		}},
	}, may, func(context.Context, *account.Principal, *struct{}) (*huma.StreamResponse, error) {
		return &huma.StreamResponse{Body: func(hc huma.Context) {
			r, w := humago.Unwrap(hc)
			to.ServeHTTP(w, r)
		}}, nil
	})
}
