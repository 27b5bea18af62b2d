package dialect

import "github.com/callvet/callvet"

func (r *reader) promptfoo() (*callvet.Suite, error)                      { return nil, nil }
func exportPromptfoo(s *callvet.Suite) ([]byte, []callvet.Problem, error) { return nil, nil, nil }
