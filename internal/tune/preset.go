// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package tune

// Preset is a space that callvet ships.
type Preset struct {
	Name  string `json:"name"`
	About string `json:"about"`
	// Text is a space file.
	Text string `json:"text"`
}

// Presets are the shipped spaces. If a model does not accept a parameter, its combinations are
// equal and are tried once.
func Presets() []Preset {
	return []Preset{
		{
			"temperature", "five temperatures, and the provider's default",
			"params:\n  temperature: [null, 0, 0.25, 0.5, 0.75, 1]\n",
		},
		{
			"sampling", "temperature and top_p",
			"params:\n  temperature: [0, 0.3, 0.7, 1]\n  top_p: [null, 0.5, 0.8, 0.95]\n",
		},
		{
			"reasoning", "how much a reasoning model thinks",
			"params:\n  reasoning_effort: [null, minimal, low, medium, high]\n",
		},
		{
			"calling", "whether a call is required, and whether calls may be parallel",
			"params:\n  tool_choice: [auto, required]\n  parallel_calls: [null, true, false]\n",
		},
	}
}

// PresetSpace returns the space of a preset.
func PresetSpace(name string) (*Space, bool) {
	for _, p := range Presets() {
		if p.Name == name {
			s, err := ReadSpace("preset "+name, []byte(p.Text))
			return s, err == nil
		}
	}
	return nil, false
}
