import type { DnsRecordData } from './dnsRecord.ts'
import type { ZoneStep } from './zonePlan.ts'

/** Reverts the applied steps of a plan. Records that have changed since are left unchanged. */
export function revertSteps(present: readonly DnsRecordData[], steps: readonly ZoneStep[]): DnsRecordData[] {
  const desired = [...present]
  const findRecordIndex = (record: DnsRecordData): number => desired.findIndex((it) => isSame(it, record))
  for (const step of steps.toReversed()) {
    if (step.action === 'remove') {
      if (findRecordIndex(step.before) < 0) desired.push(step.before)
      continue
    }
    const index = findRecordIndex(step.after)
    if (index < 0) continue
    if (step.action === 'add') desired.splice(index, 1)
    else desired[index] = step.before
  }
  return desired
}

function isSame(a: DnsRecordData, b: DnsRecordData): boolean {
  return a.type === b.type && a.host === b.host && a.value === b.value
}
