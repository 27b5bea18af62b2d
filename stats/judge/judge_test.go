// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package judge

import "testing"

func BenchmarkStratified(b *testing.B) {
	s := Strata{JudgePass: 170, N: 200, LabelledPass: 100, TruePassInPass: 95, LabelledFail: 20, TruePassInFail: 5}
	for b.Loop() {
		Stratified(s, 0.95)
	}
}

func BenchmarkProfileTransport(b *testing.B) {
	c := Calibration{TruePositive: 152, LabelledPass: 160, TrueNegative: 36, LabelledFail: 40}
	for b.Loop() {
		ProfileTransport(Judged{Pass: 160, N: 200}, c, 0.95)
	}
}
