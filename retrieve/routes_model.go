// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"

	"github.com/callvet/callvet"
	"github.com/callvet/callvet/internal/doc"
)

// ModelFormat is the format of a file of learned routes.
const ModelFormat = "callvet.routes"

// modelVersion changes when the features of a question change.
const modelVersion = 1

// model is a file of learned routes. Features that no example has are left out.
type model struct {
	Format    string  `json:"format"`
	Version   int     `json:"version"`
	Labels    []label `json:"labels"`
	Buckets   int     `json:"buckets"`
	Sharpness float64 `json:"sharpness"`
	Threshold float64 `json:"threshold"`
	// Seen are hashes of the learned questions; see LearnedRoutes.Saw.
	Seen []byte `json:"seen"`
	// Features are the buckets (uint32), with the rarity of each and its weight for each
	// label (float32); all little-endian.
	Features []byte `json:"features"`
}

type label struct {
	Route    string `json:"route"`
	SubRoute string `json:"sub_route,omitempty"`
}

// MarshalJSON writes routes that ReadLearnedRoutes reads. It has hashes of the questions, not the
// questions.
func (l *LearnedRoutes) MarshalJSON() ([]byte, error) {
	m := model{
		Format: ModelFormat, Version: modelVersion, Buckets: len(l.features.rarity), Sharpness: l.sharpness,
		Threshold: l.threshold,
	}
	for _, e := range l.labels {
		m.Labels = append(m.Labels, label{e.Route, e.SubRoute})
	}
	for _, s := range l.seen {
		m.Seen = binary.LittleEndian.AppendUint64(m.Seen, s)
	}
	n := len(l.labels)
	for b, r := range l.features.rarity {
		if r == 0 {
			continue
		}
		m.Features = binary.LittleEndian.AppendUint32(m.Features, uint32(b))
		for _, f := range append([]float32{r}, l.weights[b*n:b*n+n]...) {
			m.Features = binary.LittleEndian.AppendUint32(m.Features, math.Float32bits(f))
		}
	}
	return json.Marshal(m)
}

// IsLearned reports whether data is a file of learned routes, complete or not, rather than one of
// rules.
func IsLearned(data []byte) bool {
	var m struct{ Format string }
	return json.Unmarshal(bytes.TrimPrefix(data, []byte("\ufeff")), &m) == nil && m.Format == ModelFormat
}

// maxWeights bounds the numbers of a model: 1 GiB of them.
const maxWeights = 1 << 28

// ReadLearnedRoutes reads learned routes from the file name. Errors wrap callvet.ErrInvalid: an
// unknown format or version, numbers that are not finite, a wrong size.
func ReadLearnedRoutes(name string, data []byte) (*LearnedRoutes, error) {
	var m model
	refuse := func(format string, args ...any) (*LearnedRoutes, error) {
		return nil, fmt.Errorf("read learned routes %s: %w: %s", name, callvet.ErrInvalid, fmt.Sprintf(format, args...))
	}
	if err := doc.DecodeJSON(name, data, &m); err != nil {
		return nil, fmt.Errorf("read learned routes: %w: %w", callvet.ErrInvalid, err)
	}
	n := len(m.Labels)
	switch row := 4 * (n + 2); {
	case m.Format != ModelFormat:
		return refuse("the format is %q, not %s", m.Format, ModelFormat)
	case m.Version != modelVersion:
		return refuse("version %d, not %d: learn them again", m.Version, modelVersion)
	case m.Buckets < 256 || n < 2 || m.Buckets > maxWeights/n:
		return refuse("%d labels over %d features", n, m.Buckets)
	case len(m.Features)%row != 0 || len(m.Seen)%8 != 0:
		return refuse("the file is cut off")
	case !(m.Sharpness > 0) || !(m.Threshold >= 0):
		return refuse("sharpness %v, threshold %v", m.Sharpness, m.Threshold)
	}
	l := &LearnedRoutes{
		sharpness: m.Sharpness, threshold: m.Threshold, weights: make([]float32, m.Buckets*n),
		features: features{rarity: make([]float32, m.Buckets)},
	}
	for _, e := range m.Labels {
		l.labels = append(l.labels, RouteExample{Route: e.Route, SubRoute: e.SubRoute})
	}
	if !slices.IsSortedFunc(l.labels, compareLabels) {
		return refuse("its labels are not in order")
	}
	for rest := m.Seen; len(rest) > 0; rest = rest[8:] {
		l.seen = append(l.seen, binary.LittleEndian.Uint64(rest))
	}
	for rest := m.Features; len(rest) > 0; {
		b := int(binary.LittleEndian.Uint32(rest))
		if b >= m.Buckets {
			return refuse("feature %d of %d", b, m.Buckets)
		}
		rest = rest[4:]
		for i := range n + 1 {
			f := math.Float32frombits(binary.LittleEndian.Uint32(rest))
			if rest = rest[4:]; math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
				return refuse("a weight that is no number")
			}
			if i == 0 {
				l.features.rarity[b] = f
			} else {
				l.weights[b*n+i-1] = f
			}
		}
	}
	return l, nil
}

// Saw reports whether a question was among the examples, ignoring case, accents and signs: a right
// route for such a question proves nothing.
func (l *LearnedRoutes) Saw(question string) bool {
	_, ok := slices.BinarySearch(l.seen, QuestionMark(question))
	return ok
}

// QuestionMark is a hash of a question that ignores case, accents and signs.
func QuestionMark(question string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write([]byte(strings.Join(Words(question), " "))) // never an error
	return h.Sum64()
}

func marks(examples []RouteExample) []uint64 {
	out := make([]uint64, len(examples))
	for i, e := range examples {
		out[i] = QuestionMark(e.Text)
	}
	slices.Sort(out)
	return slices.Compact(out)
}
