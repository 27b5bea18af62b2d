// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package queue checks the jobs of a real server: a process of callvet serve on a store of its own,
// asked over HTTP like by users. A model server inside this process counts every request.
//
//	kills    the server is killed without warning in the middle of runs, and started again: each run goes
//	         on by itself and ends with every cell stored once, judged rightly and told once
//	limits   users with limits send many jobs at once: no limit is exceeded, and nobody starves
//	cancels  a job is cancelled while its requests hang: it ends soon, and its requests are closed
package queue
