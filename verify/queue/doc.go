// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

// Package queue checks the jobs of a real server: a process of callvet serve on a separate store, used
// over HTTP as by users. A model server inside this process counts every request.
//
//	kills    the server is killed without warning in the middle of runs, and started again: each run
//	         resumes by itself and ends with every cell stored once, judged rightly and one event for each
//	limits   users with limits send many jobs at once: no limit is exceeded, and no user starves
//	cancels  a job is cancelled while its requests hang: it ends soon, and its requests are closed
package queue
