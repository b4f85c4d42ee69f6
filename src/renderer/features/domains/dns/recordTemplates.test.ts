import { expect, test } from 'vitest'
import { type DnsRecordData, normalRecord } from '../../../../shared/dns/dnsRecord.ts'
import { zoneConflict } from '../../../../shared/dns/zoneRules.ts'
import { recordTemplates } from './recordTemplates.ts'

test.each(recordTemplates)('$label has records that can stand together', ({ records }) => {
  const kept: DnsRecordData[] = []
  for (const it of records) {
    const record = normalRecord('example.com', it)
    expect(zoneConflict(kept, record)).toBeUndefined()
    kept.push(record)
  }
})
