/* SPDX-License-Identifier: Apache-2.0 */
/* The few built-in kinds that are served in several forms: Event (v1, events.k8s.io/v1) and
 * HorizontalPodAutoscaler (autoscaling/v1, v2). */
#ifndef HOLDFS_CONVERT_H
#define HOLDFS_CONVERT_H

#include "store/base/arena.h"
#include "store/codec/tree.h"
#include "store/kind/kind.h"

/* Rewrites object in place from the form of `from` to that of `to` (rows that share a storage row), apiVersion and
 * kind included. Nothing is lost on the way to the storage form and back: what the other form cannot say is kept as
 * kube-apiserver does (HPA v1: annotations autoscaling.alpha.kubernetes.io/metrics, /behavior, /current-metrics,
 * /conditions). False when out of memory. */
bool convert_object(struct arena *a, const struct kind *from, const struct kind *to, struct tree *object);

#endif
