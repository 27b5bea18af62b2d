// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package retrieve

import (
	"fmt"
	"math"

	"github.com/callvet/callvet"
)

// Formula is how the score of a tool is computed.
type Formula string

// The formulas.
const (
	// Mixed is the sum of the lexical and the vector part by their weights.
	Mixed Formula = "mixed"
	// ReciprocalRank sums 1/(60+rank) of both orders by their weights (Cormack,
	// Clarke and Büttcher 2009).
	ReciprocalRank Formula = "reciprocal_rank"
	// Additive is the formula of BigTool.
	Additive Formula = "additive"
)

// Options define how tools are scored. Take a preset and change it.
type Options struct {
	Formula Formula
	// K1 and the fields are for BM25F (Mixed, ReciprocalRank).
	K1                                                                float64
	Name, Description, Keywords, Parameters, Details, Examples, Group Weight
	// Forms has the weights of similar words.
	Forms Expansion
	// Offline is the width of vectors that need no model; 0 for none. They are fitted on the first
	// entries of the index (10,000 of them, evenly spread), and every further Update keeps the fit.
	// It is ignored with an Embedder.
	Offline int
	// Embedder makes the vectors; nil for none. VectorWeight in [0,1] is the share of
	// the vector part (Mixed, ReciprocalRank), or its factor (Additive).
	Embedder     Embedder
	VectorWeight float64
	// Cache keeps the vectors of tools that the Embedder makes; nil for none.
	Cache VectorCache
	// Reranker reorders the RerankTop best tools of the formula, or the requested number where that
	// is larger; nil for none. RerankTop 0 is 50. Threshold and Confidence then apply to the
	// reranker's scores.
	Reranker  Reranker
	RerankTop int
	// Additive has the weights of that formula.
	Additive AdditiveWeights
	// Primary and Fallback are namespaces by their beginnings (Additive): a tool with a namespace
	// that begins with one of them belongs to it.
	Primary, Fallback [][]string
	// Agents are the settings for choosing agents (NewChooser) and for the gate (SearchFor).
	Agents AgentOptions
	// Limit is how many tools Search returns for a limit of 0.
	Limit int
	// Threshold is the least score of a returned tool. 0 returns all tools with a score above 0.
	Threshold float64
	// Confidence computes the probability that a tool fits; nil leaves it uncalibrated. Results
	// below MinConfidence are empty. Calibrate fits it.
	Confidence    *Logistic
	MinConfidence float64
}

// Weight is the weight of a field: Weight >= 0 multiplies the counts of its words, B in [0,1] is
// the penalty for fields that are longer than the mean.
type Weight struct{ Weight, B float64 }

// AdditiveWeights are points for each kind of common text of a question and a tool.
type AdditiveWeights struct {
	Name, Keyword, Token, Example, Namespace float64
	// Candidates is how many tools are passed to the reranker.
	Candidates int
}

// Default returns the preset with the weights that were chosen by measurement
// (docs/design/proof.md). It needs neither network nor weights of a model. Its Confidence was
// fitted by callvet-verify abstention; it holds for these weights and vectors, and not with a
// Reranker.
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

// DefaultMinConfidence is the MinConfidence that refuses about one in twenty answerable questions
// under Default, over the catalogs that it was fitted on (docs/design/proof.md). On some catalogs
// it refuses more, so Default itself refuses nothing.
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
