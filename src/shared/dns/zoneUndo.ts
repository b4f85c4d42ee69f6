import type { DnsRecordData } from './dnsRecord.ts'
import type { ZoneStep } from './zonePlan.ts'

/**
 * The records of a zone without what a plan did to it, whichever of its steps were taken. What was changed since by anybody
 * else stays as it is: a record that is not what the plan made of it is not touched.
 */
export function withoutSteps(present: readonly DnsRecordData[], steps: readonly ZoneStep[]): DnsRecordData[] {
  const wanted = [...present]
  const indexOf = (record: DnsRecordData): number => wanted.findIndex((it) => isSame(it, record))
  for (const step of steps.toReversed()) {
    if (step.action === 'remove') {
      if (indexOf(step.before) < 0) wanted.push(step.before)
      continue
    }
    const at = indexOf(step.after)
    if (at < 0) continue
    if (step.action === 'add') wanted.splice(at, 1)
    else wanted[at] = step.before
  }
  return wanted
}

function isSame(one: DnsRecordData, other: DnsRecordData): boolean {
  return one.type === other.type && one.host === other.host && one.value === other.value
}
