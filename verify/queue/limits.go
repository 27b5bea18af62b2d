// Copyright 2026 The callvet authors. Licensed under the Apache License, Version 2.0.

package queue

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// allowance is how many jobs a user may have at the same time.
type allowance struct {
	user string
	most int
}

// ofUsers names the comparisons of jobs.
const ofUsers = "jobs of users with limits"

// limited are the users of this check.
func limited() []allowance { return []allowance{{"ana", 1}, {"bo", 2}, {"cy", 5}} }

// workers is the number of jobs that a server runs at the same time; hog is a user who sends enough
// jobs for all of them, and sends them first.
const workers = 8

func hog() allowance { return allowance{"hog", workers} }

// sender is a user of this check.
type sender struct {
	allowance
	person

	suite string
}

// limits lets users send many jobs at once: first users with limits, who all fit, and then the same
// users together with hog.
func (k *check) limits(ctx context.Context) error {
	var senders []sender
	for _, a := range append(limited(), hog()) {
		p, err := k.site.invite(ctx, a.user, a.most)
		if err != nil {
			return err
		}
		suite, err := k.site.keepSuite(ctx, &p, k.JobCells)
		if err != nil {
			return err
		}
		senders = append(senders, sender{a, p, suite})
	}
	last := len(senders) - 1
	return errors.Join(k.round(ctx, "alone", senders[:last]),
		k.round(ctx, "with hog", append(senders[last:], senders[:last]...)))
}

// round sends the jobs of users, and compares the jobs of the users with limits.
func (k *check) round(ctx context.Context, round string, senders []sender) error {
	reported, limit := map[string]int{}, map[string]int{}
	jobs := map[string]string{} // user and number, by job
	for i := range senders {
		s := &senders[i]
		news, err := k.site.events(ctx, &s.person, 0)
		if err != nil {
			return err
		}
		reported[s.user], limit[s.user] = len(news), s.most
		n := k.Jobs
		if s.allowance == hog() {
			n *= 2
		}
		for i := range n {
			name := fmt.Sprintf("%s-%d %s", s.user, i+1, round)
			job, err := k.site.submit(ctx, &s.person, s.suite, name, k.model.url, 2)
			if err != nil {
				return err
			}
			jobs[job.Job] = name
		}
	}
	var list []job
	for id, name := range jobs {
		j, err := k.site.await(ctx, &k.site.admin, id)
		if err != nil {
			return err
		}
		if j.User, _, _ = strings.Cut(name, "-"); j.User != hog().user {
			k.Compare(ofUsers, name, j.Status == "done" && j.Done == k.JobCells, "it is %s with %d of %d cells: %s",
				j.Status, j.Done, k.JobCells, j.Error)
		}
		list = append(list, j)
	}
	longest := waits(list, limit)
	for i := range senders {
		s := &senders[i]
		news, err := k.site.events(ctx, &s.person, reported[s.user])
		if err != nil {
			return err
		}
		most, seen, wait := atOnce(news), k.model.together(s.user), longest[s.user]
		k.Printf(
			"%s, limit %d, %s: at most %d jobs at the same time by the events, %d at the model server; waited for at most %d starts of others\n", s.user, s.most, round, most, seen, wait)
		if s.allowance == hog() {
			continue
		}
		reached := most == min(s.most, k.Jobs) || len(senders) > len(limited())
		k.Compare("limits", s.user+" "+round, most <= s.most && seen <= s.most && reached && wait <= patient,
			"at most %d jobs at the same time by the events, %d at the model server; %d starts of others",
			most, seen, wait)
	}
	return nil
}

// patient is the most starts of other users before a user who may have one more job has a start. The
// others take turns, and each finished job permits one start.
const patient = 2 * workers

// atOnce returns the most jobs at the same time, by the events of a user.
func atOnce(news []event) (most int) {
	now := 0
	for _, e := range news {
		switch e.Type {
		case "job_started":
			now++
			most = max(most, now)
		case "job_completed", "job_failed", "job_cancelled", "job_interrupted":
			now--
		}
	}
	return most
}

// waits returns for each user the most starts of other users between two own starts. It counts only
// times when a job of the user waited and could have run.
func waits(list []job, limit map[string]int) map[string]int {
	const ends, comes, starts = 0, 1, 2 // in this order at equal times
	type change struct {
		at   time.Time
		what int
		user string
	}
	var all []change
	for i := range list {
		j := &list[i]
		all = append(all, change{j.Queued, comes, j.User}, change{j.Started, starts, j.User},
			change{j.Finished, ends, j.User})
	}
	slices.SortStableFunc(all, func(a, b change) int { return cmp.Or(a.at.Compare(b.at), cmp.Compare(a.what, b.what)) })
	queued, running, waited, longest := map[string]int{}, map[string]int{}, map[string]int{}, map[string]int{}
	for _, c := range all {
		switch c.what {
		case ends:
			running[c.user]--
		case comes:
			queued[c.user]++
		case starts:
			for user, most := range limit {
				if user != c.user && queued[user] > 0 && running[user] < most {
					waited[user]++
					longest[user] = max(longest[user], waited[user])
				}
			}
			running[c.user]++
			queued[c.user]--
			waited[c.user] = 0
		}
	}
	return longest
}

// cancel cancels a job.
func (s *site) cancel(ctx context.Context, as *person, id string) error {
	return s.ask(ctx, as, http.MethodPost, "/api/tool-eval/cancel", map[string]string{"job_id": id}, nil)
}
