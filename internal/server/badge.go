// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package server

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"net/http"
	"unicode/utf8"

	"github.com/danielgtaylor/huma/v2"

	"github.com/callvet/callvet/internal/account"
	"github.com/callvet/callvet/internal/report/plain"
	"github.com/callvet/callvet/internal/server/api"
	"github.com/callvet/callvet/panel"
)

// badgeDrawing is a badge: a label, and next to it the result of the run.
const badgeDrawing = `<svg xmlns="http://www.w3.org/2000/svg" width="{{.Width}}" height="20" role="img" aria-label="callvet: {{.Text}}">` +
	`<title>callvet: {{.Text}}</title><rect width="{{.Width}}" height="20" rx="3" fill="{{.Color}}"/><path d="M3 0h49v20H3a3 3 0 0 1-3-3V3a3 3 0 0 1 3-3z" fill="#3c4350"/>` +
	`<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11"><text x="7" y="14">callvet</text><text x="59" y="14">{{.Text}}</text></g></svg>`

// addBadge adds the badge of a run.
func addBadge(s *api.Server) {
	drawing := template.Must(template.New("badge").Parse(badgeDrawing))
	api.Add(s, huma.Operation{
		OperationID: "get-badge", Method: http.MethodGet, Path: "/api/runs/{id}/badge.svg",
		Summary: "A small picture of how a run ended, with the pass rate and its interval", Tags: []string{"runs"},
		Responses: map[string]*huma.Response{"200": {
			Description: "a drawing",
			Content:     map[string]*huma.MediaType{"image/svg+xml": {}},
		}},
	}, api.Access{Objects: map[string]api.Kind{"id": api.KindRun}},
		func(ctx context.Context, _ *account.Principal, in *api.RunIn) (*huma.StreamResponse, error) {
			d, err := document(ctx, s, in.ID)
			if err != nil {
				return nil, err
			}
			text, color := badgeOf(d.Status, d.Panels)
			if d.LeftOut > 0 {
				text += ", gates decided early"
			}
			var b bytes.Buffer
			if err := drawing.Execute(&b,
				map[string]any{
					"Text": text, "Color": color,
					"Width": 66 + 7*utf8.RuneCountInString(text),
				}); err != nil {
				return nil, fmt.Errorf("draw badge: %w", err)
			}
			return &huma.StreamResponse{Body: func(hc huma.Context) {
				hc.SetHeader("Content-Type", "image/svg+xml")
				_, _ = hc.BodyWriter().Write(b.Bytes()) // an error means that the client disconnected
			}}, nil
		})
}

// badgeOf is the text of a run's badge and its background colour. One target: its pass rate with
// the interval. Several: how many of the judged attempts passed. Floors count only if there is no
// other target.
func badgeOf(status string, p *panel.Panels) (text, color string) {
	const passed, failed, open = "#187a3a", "#b3261e", "#8a5a00"
	sum := p.Counted()
	var rates []*panel.Metric
	for _, floors := range []bool{false, true} {
		for i := range p.Targets {
			if t := &p.Targets[i]; t.Floor == floors {
				rates = append(rates, t.Overall.Metric(panel.MetricPass))
			}
		}
		if len(rates) > 0 {
			break
		}
	}
	switch judged := sum.Pass + sum.Fail; {
	case judged == 0:
		return "nothing judged", open
	case len(rates) == 1 && rates[0] != nil && rates[0].Interval.Defined():
		text = plain.Rate(rates[0].Interval) + " pass"
	default:
		text = fmt.Sprintf("%d of %d pass", sum.Pass, judged)
	}
	color = passed
	if status != "done" || sum.Lost() > 0 {
		text, color = text+", not all judged", open
	}
	if sum.Fail > 0 {
		color = failed
	}
	return text, color
}
