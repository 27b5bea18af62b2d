// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"fmt"
	"math"

	"github.com/callvet/callvet"
)

// Formula is how the score of a tool is made.
type Formula string

// The formulas.
const (
	// Mixed is the sum of the lexical and the vector part by their weights.
	Mixed Formula = "mixed"
	// ReciprocalRank sums 1/(60+rank) of both orders by their weights (Cormack,
	// Clarke and Büttcher 2009).
	ReciprocalRank Formula = "reciprocal_rank"
	// Additive is the second document's arithmetic: see BigTool.
	Additive Formula = "additive"
)

// Options say how tools are scored. Take a preset and change it.
type Options struct {
	Formula Formula
	// K1 and the fields are those of BM25F (Mixed, ReciprocalRank).
	K1                                                                float64
	Name, Description, Keywords, Parameters, Details, Examples, Group Weight
	// Forms says how far a word of the question may be from a tool's words.
	Forms Expansion
	// Offline is the width of vectors that are made without weights of a model, fitted
	// on the first entries that the index gets (10,000 of them, evenly spread) and kept
	// by every further Update; 0 for none. It does not count when there is an Embedder.
	Offline int
	// Embedder makes the vectors; nil for none. VectorWeight in [0,1] is the share of
	// the vector part (Mixed, ReciprocalRank), or its factor (Additive).
	Embedder     Embedder
	VectorWeight float64
	// Cache keeps the vectors of tools that the Embedder makes; nil for none.
	Cache VectorCache
	// Reranker orders the RerankTop best tools of the formula anew, or as many as a
	// question asks for where that is more; nil for none. RerankTop 0 is 50. Threshold
	// and Confidence are then about the reranker's scores.
	Reranker  Reranker
	RerankTop int
	// Additive has the weights of that formula.
	Additive AdditiveWeights
	// Primary and Fallback are namespaces by their beginnings (Additive): a tool
	// whose namespace begins with one of them belongs to it.
	Primary, Fallback [][]string
	// Agents say how agents are chosen (NewChooser) and what that means for tools
	// (SearchFor).
	Agents AgentOptions
	// Limit is how many tools Search gives when asked for 0.
	Limit int
	// Threshold is the score under which a tool is not given. 0 gives all with a
	// score above 0.
	Threshold float64
	// Confidence turns what was found into the probability that anything fits; nil
	// leaves it uncalibrated. Results under MinConfidence are empty. Calibrate fits it.
	Confidence    *Logistic
	MinConfidence float64
}

// Weight is what one field of a tool counts: Weight >= 0 multiplies the counts of its
// words, B in [0,1] marks down fields that are longer than the mean.
type Weight struct{ Weight, B float64 }

// AdditiveWeights are points for each thing that a question and a tool share.
type AdditiveWeights struct {
	Name, Keyword, Token, Example, Namespace float64
	// Candidates is how many tools go on to the reranker.
	Candidates int
}

// Default gives the preset whose weights were chosen by measurement
// (docs/design/proof.md). It needs neither network nor weights of a model. Its
// Confidence was fitted by callvet-verify abstention; it holds for these weights and
// vectors, and not with a Reranker.
func Default() Options {
	return Options{
		Formula:      Mixed,
		K1:           0.5,
		Name:         Weight{1.5, 1},
		Description:  Weight{0.5, 0.3},
		Keywords:     Weight{2, 1},
		Parameters:   Weight{1.4, 1},
		Details:      Weight{0.9, 0.6},
		Examples:     Weight{1.5, 0.7},
		Group:        Weight{0.2, 1},
		Forms:        Expansion{Inflection: 0.4, Compound: 0.3, Misspelling: 0.4, MinPart: 3, Max: 8},
		Offline:      NGramWidth,
		VectorWeight: 0.2,
		Limit:        10,
		Confidence: &Logistic{
			Bias: 0.07978, Score: 4.987, Lead: -0.4134, Semantic: 15.42, Matched: 1.654,
			Words: -0.8689,
		},
	}
}

// DefaultMinConfidence is the MinConfidence that refuses about one in twenty of the
// answerable questions under Default, over the catalogs that it was fitted on
// (docs/design/proof.md). Default itself refuses nothing: on some catalogs it is more.
const DefaultMinConfidence = 0.211

func (o Options) fields() []BM25Field {
	f := func(name string, w Weight) BM25Field { return BM25Field{Name: name, Weight: w.Weight, B: w.B} }
	return []BM25Field{
		f("name", o.Name), f("description", o.Description), f("keywords", o.Keywords), f("parameters", o.Parameters),
		f("details", o.Details), f("examples", o.Examples), f("group", o.Group),
	}
}

func (o Options) check() error {
	switch o.Formula {
	case Mixed, ReciprocalRank, Additive:
	default:
		return fmt.Errorf("check options: formula %q: %w", o.Formula, callvet.ErrInvalid)
	}
	if o.Formula != Additive && !(o.VectorWeight >= 0 && o.VectorWeight <= 1) || !(o.VectorWeight >= 0) ||
		math.IsInf(o.VectorWeight, 0) {
		return fmt.Errorf(
			"check options: vector weight %v, which is from 0 to 1, or a factor from 0 under additive: %w",
			o.VectorWeight, callvet.ErrInvalid)
	}
	if a := o.Agents; !(a.Gate >= 0 && a.Gate <= 1) || a.Limit < 0 || a.Candidates < 0 {
		return fmt.Errorf("check options: agent gate %v (from 0 to 1), %d agents of %d candidates: %w", a.Gate, a.Limit,
			a.Candidates, callvet.ErrInvalid)
	}
	if o.RerankTop < 0 {
		return fmt.Errorf("check options: rerank the best %d: %w", o.RerankTop, callvet.ErrInvalid)
	}
	return nil
}
