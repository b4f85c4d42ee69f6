import { useMutation, useQueryClient } from '@tanstack/react-query'
import { Box, Download, FileUp, History, ListPlus, Plus } from 'lucide-react'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { readAgain } from '#renderer/api/readAgain.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { notify } from '#renderer/ui/toast.tsx'
import { useUnsaved } from '#renderer/ui/unsaved/useUnsaved.ts'
import type { Domain } from '#shared/contract/domains.ts'
import { type DnsPlan, listLocalRecords, planRecords, undoPlan } from '#shared/contract/localDomains.ts'
import type { DnsRecordData } from '#shared/dns/dnsRecord.ts'
import { formatZoneFile } from '#shared/dns/zoneFile.ts'
import { SourceNotice } from '../SourceNotice.tsx'
import { domainsKey, useRecords } from '../useDomains.ts'
import { DomainSandboxes } from './DomainSandboxes.tsx'
import { ElsewhereNotice } from './ElsewhereNotice.tsx'
import { HistoryDialog } from './HistoryDialog.tsx'
import { ImportDialog } from './ImportDialog.tsx'
import { OrphanedNotice } from './OrphanedNotice.tsx'
import { PlanDialog } from './PlanDialog.tsx'
import { RecordFields } from './RecordFields.tsx'
import { RecordRow, recordColumns } from './RecordRow.tsx'
import { SandboxDialog } from './SandboxDialog.tsx'
import { withoutSandboxRecord } from './sandboxRecord.ts'
import { TemplatesDialog } from './TemplatesDialog.tsx'
import {
  buildZoneRows,
  editCount,
  noEdits,
  restoreRecord,
  toRecords,
  withAddress,
  withImported,
  withoutRecord,
  withRecord,
  type ZoneEdits,
} from './zoneEdits.ts'

/** DNS records: changes are collected, compared with the zone as it is, and applied together. */
export function RecordsEditor({
  domain,
}: {
  domain: Pick<Domain, 'domain' | 'unicode' | 'nameservers' | 'orphaned_names'>
}) {
  const zone = domain.domain
  const agent = useAgent()
  const queryClient = useQueryClient()
  const { data, error, isPending, refetch } = useRecords(zone)
  const [edits, setEdits] = useState<ZoneEdits>(noEdits)
  const [edited, setEdited] = useState<string>()
  const [isImporting, setImporting] = useState(false)
  const [isChoosing, setChoosing] = useState(false)
  const [isPointing, setPointing] = useState(false)
  const [isHistory, setHistory] = useState(false)
  const [plan, setPlan] = useState<DnsPlan>()
  const records = data?.records ?? []
  const rows = buildZoneRows(records, edits)
  const count = editCount(records, edits)
  useUnsaved(count > 0, ['domains', 'name', zone], () => setEdits(noEdits))

  const planning = useMutation({
    mutationFn: async () => {
      // Records added elsewhere since are not part of the changes.
      const { records: latest } = await agent(listLocalRecords, { domain: zone, fresh: true })
      return await agent(planRecords, { domain: zone, records: toRecords(buildZoneRows(latest, edits)) })
    },
    onSuccess: setPlan,
  })
  const undoing = useMutation({
    mutationFn: (planId: string) => agent(undoPlan, { planId }),
    onSuccess: setPlan,
    onError: (error) => notify.failed(error),
  })
  const onApplied = (applied: DnsPlan) => {
    setPlan(undefined)
    setEdits(noEdits)
    void readAgain(queryClient, domainsKey)
    notify.done(applied.undo_of ? 'Changes undone' : 'Changes applied', {
      ...(!applied.undo_of && { action: { label: 'Undo', run: () => undoing.mutate(applied.id) } }),
    })
  }
  const addAll = (added: readonly DnsRecordData[]) =>
    setEdits(added.reduce((next, record) => withRecord(next, record, { newKey: newKey() }), edits))
  const download = () => {
    const text = formatZoneFile({
      name: zone,
      nameservers: domain.nameservers,
      records: toRecords(buildZoneRows(records, noEdits)),
    })
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([text], { type: 'text/dns' }))
    link.download = `${zone}.zone`
    link.click()
    URL.revokeObjectURL(link.href)
  }
  const listOthers = (key?: string) => toRecords(rows.filter((it) => it.key !== key))

  if (isPending) return <SkeletonRows label="Loading DNS records…" count={4} rowClassName="h-6" />
  if (!data) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  return (
    <section aria-label="DNS records" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="text-title font-semibold">DNS records</h3>
        <SourceNotice source={data.source} asOf={data.as_of} />
        <span className="flex-1" />
        <Button size="small" icon={History} onClick={() => setHistory(true)}>
          History
        </Button>
        <Button size="small" icon={ListPlus} onClick={() => setChoosing(true)}>
          Templates
        </Button>
        <Button size="small" icon={Box} onClick={() => setPointing(true)}>
          Sandbox
        </Button>
        <Button size="small" icon={FileUp} onClick={() => setImporting(true)}>
          Import
        </Button>
        <Button size="small" icon={Download} onClick={download}>
          Export
        </Button>
        <Button size="small" icon={Plus} onClick={() => setEdited('new')}>
          Add record
        </Button>
      </div>
      <ElsewhereNotice domain={domain} />
      <OrphanedNotice domain={domain} />
      <DomainSandboxes
        zone={zone}
        onRemoved={(name) => setEdits(withoutSandboxRecord(zone, { records, edits }, name))}
      />
      {edited === 'new' && (
        <RecordFields
          zone={zone}
          record={undefined}
          others={listOthers()}
          onCancel={() => setEdited(undefined)}
          onDone={(record) => {
            setEdits(withRecord(edits, record, { newKey: newKey() }))
            setEdited(undefined)
          }}
        />
      )}
      {rows.length === 0 ? (
        <p className="py-3 text-muted">No DNS records. Add one, or use a template.</p>
      ) : (
        <div>
          <div aria-hidden className={`${recordColumns} border-b border-line pb-1.5 text-small text-muted`}>
            <span className="pl-1.5">Type</span>
            <span>Name</span>
            <span>Value</span>
            <span className="max-narrow:hidden">TTL</span>
          </div>
          <ul aria-label="Records">
            {rows.map((row) =>
              row.key === edited ? (
                <li key={row.key} className="py-1.5">
                  <RecordFields
                    zone={zone}
                    record={row.record}
                    others={listOthers(row.key)}
                    onCancel={() => setEdited(undefined)}
                    onDone={(record) => {
                      setEdits(withRecord(edits, record, { key: row.key, newKey: '' }))
                      setEdited(undefined)
                    }}
                  />
                </li>
              ) : (
                <RecordRow
                  key={row.key}
                  row={row}
                  onEdit={() => setEdited(row.key)}
                  onRemove={() => setEdits(withoutRecord(edits, row.key))}
                  onRestore={() => setEdits(restoreRecord(edits, row.key))}
                />
              ),
            )}
          </ul>
        </div>
      )}
      {planning.error && <ErrorNotice error={planning.error} />}
      {count > 0 && (
        <div className="sticky bottom-0 flex items-center justify-end gap-2 border-t border-line bg-canvas py-2.5">
          <span className="flex-1 text-muted">{count === 1 ? '1 unsaved change' : `${count} unsaved changes`}</span>
          <Button onClick={() => setEdits(noEdits)}>Discard</Button>
          <Button variant="primary" busy={planning.isPending} onClick={() => planning.mutate()}>
            Review changes
          </Button>
        </div>
      )}
      {isChoosing && (
        <TemplatesDialog
          zone={zone}
          present={listOthers()}
          onClose={() => setChoosing(false)}
          onAdd={(added) => {
            addAll(added)
            setChoosing(false)
          }}
        />
      )}
      {isPointing && (
        <SandboxDialog
          zone={zone}
          present={listOthers()}
          onClose={() => setPointing(false)}
          onAdd={(record) => {
            const next = withAddress(records, edits, { record, newKey: newKey() })
            if (next === edits) notify.done('Requests now go to the sandbox')
            setEdits(next)
            setPointing(false)
          }}
        />
      )}
      {isHistory && (
        <HistoryDialog
          zone={zone}
          onClose={() => setHistory(false)}
          onUndo={(planId) => {
            setHistory(false)
            undoing.mutate(planId)
          }}
        />
      )}
      {isImporting && (
        <ImportDialog
          zone={zone}
          onClose={() => setImporting(false)}
          onImport={(imported, { replace }) => {
            setEdits(withImported(records, imported, { replace, newKey }))
            setImporting(false)
          }}
        />
      )}
      {plan && (
        <PlanDialog
          key={plan.id}
          plan={plan}
          onClose={() => {
            setPlan(undefined)
            void readAgain(queryClient, domainsKey)
          }}
          onApplied={onApplied}
          onReviewAgain={() => (plan.undo_of === null ? planning.mutate() : undoing.mutate(plan.undo_of))}
          onUndo={({ id }) => undoing.mutate(id)}
        />
      )}
    </section>
  )
}

function newKey(): string {
  return `new-${crypto.randomUUID()}`
}
