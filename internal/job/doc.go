// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package job answers: which job is done next, how far is it, and what happened? When is a schedule due,
// and how is its outcome sent?
//
// The table jobs has the authoritative state. A job gets a slot of its user, and in the same
// transaction a row of River, which hands it to a worker; over the limit it waits. State.After and
// Jobs.move contain the order of the states. Progress is stored in events, numbered for each user
// without gaps: a Watcher reads them from the store, and is woken when there are more.
//
//	Submit ─► pending ─► queued ─► running ─► done, failed, cancelled
//	                       ▲          │
//	                       └──────────┴─► interrupted: its process ended, however it did
//
// Times are those of a cron spec in a time zone. Sign signs an outcome for a webhook, and Retry is
// the wait before it is sent again. The server stores schedules and sends outcomes.
package job
