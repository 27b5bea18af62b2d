// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package columns writes scored calls as a Parquet file, one row a call, for
// people's own engines.
//
// The types are Row and Writer. A measurement that is not known is null, never
// false or 0. It scores nothing and reads no file.
package columns
