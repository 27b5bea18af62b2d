// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package account

// SealOld seals a value as earlier versions did, which kept no hosts.
func (a *Accounts) SealOld(user, variable, value string) ([]byte, error) {
	return a.seal(user, variable, value)
}
