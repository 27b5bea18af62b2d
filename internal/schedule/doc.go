// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package schedule answers one question: when is a schedule due, and how is its outcome sent?
//
// Times are those of a cron spec in a time zone. Sign and Retry are the form in which an outcome goes to a
// webhook. Nothing here waits, stores or sends anything: that is the server's matter.
package schedule
