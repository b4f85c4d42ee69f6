import { Box, Download, FileUp, History, ListPlus, Plus } from 'lucide-react'
import { useState } from 'react'
import { useSandboxes } from '#renderer/api/sandboxes/useSandboxes.ts'
import { Button } from '#renderer/ui/Button.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { SkeletonRows } from '#renderer/ui/Skeleton.tsx'
import { SandboxDomainRow } from '#renderer/ui/sandboxes/SandboxDomainRow.tsx'
import { type SandboxName, useSandboxDomains } from '#renderer/ui/sandboxes/useSandboxDomains.ts'
import { notify } from '#renderer/ui/toast.tsx'
import { useUnsaved } from '#renderer/ui/unsaved/useUnsaved.ts'
import type { DnsRecord } from '#shared/contract/dnsRecords.ts'
import type { Domain } from '#shared/contract/domains.ts'
import { formatZoneFile } from '#shared/dns/zoneFile.ts'
import { SourceNotice } from '../SourceNotice.tsx'
import { useRecords } from '../useDomains.ts'
import { ElsewhereNotice } from './ElsewhereNotice.tsx'
import { HistoryDialog } from './HistoryDialog.tsx'
import { ImportDialog } from './ImportDialog.tsx'
import { OrphanedNotice } from './OrphanedNotice.tsx'
import { PlanDialog } from './PlanDialog.tsx'
import { RecordTable } from './RecordTable.tsx'
import { SandboxDialog } from './SandboxDialog.tsx'
import { removeSandboxRecord } from './sandboxRecord.ts'
import { TemplatesDialog } from './TemplatesDialog.tsx'
import { useZonePlan } from './useZonePlan.ts'
import {
  buildZoneRows,
  createRecordKey,
  editCount,
  noEdits,
  toRecords,
  withAddress,
  withImported,
  withRecord,
  type ZoneEdits,
} from './zoneEdits.ts'

type DomainSandboxesProps = {
  zone: string
  onRemoved: (name: SandboxName['name']) => void
}

type RecordsEditorProps = { domain: Pick<Domain, 'domain' | 'unicode' | 'nameservers' | 'orphaned_names'> }

type RecordsDialogKind = 'history' | 'templates' | 'sandbox' | 'import'

/** Editor of DNS records. Changes are collected, compared with the current zone and applied together. */
export function RecordsEditor({ domain }: RecordsEditorProps) {
  const zone = domain.domain
  const { data, error, isPending, refetch } = useRecords(zone)
  const [edits, setEdits] = useState<ZoneEdits>(noEdits)
  const [openRow, setOpenRow] = useState<string>()
  const [dialog, setDialog] = useState<RecordsDialogKind>()
  const records = data?.records ?? []
  const rows = buildZoneRows(records, edits)
  const count = editCount(records, edits)
  const discard = () => setEdits(noEdits)
  useUnsaved(count > 0, ['domains', 'name', zone], discard)
  const zonePlan = useZonePlan({ zone, edits, onApplied: discard })
  const { plan } = zonePlan

  if (isPending) return <SkeletonRows label="Loading DNS records…" count={4} rowClassName="h-6" />
  if (!data) return <ErrorNotice error={error} onRetry={() => void refetch()} />
  return (
    <section aria-label="DNS records" className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <h3 className="text-title font-semibold">DNS records</h3>
        <SourceNotice source={data.source} asOf={data.as_of} />
        <span className="flex-1" />
        <RecordsActions
          onOpen={setDialog}
          onExport={() => downloadZone(domain, records)}
          onAdd={() => setOpenRow('new')}
        />
      </div>
      <ElsewhereNotice domain={domain} />
      <OrphanedNotice domain={domain} />
      <DomainSandboxes
        zone={zone}
        onRemoved={(name) => setEdits(removeSandboxRecord(zone, { records, edits }, name))}
      />
      <RecordTable
        zone={zone}
        rows={rows}
        edits={edits}
        onEditsChange={setEdits}
        openRow={openRow}
        onOpenRowChange={setOpenRow}
      />
      {zonePlan.error && <ErrorNotice error={zonePlan.error} />}
      {count > 0 && (
        <div className="sticky bottom-0 flex items-center justify-end gap-2 border-t border-line bg-canvas py-2.5">
          <span className="flex-1 text-muted">{count === 1 ? '1 unsaved change' : `${count} unsaved changes`}</span>
          <Button onClick={discard}>Discard</Button>
          <Button variant="primary" busy={zonePlan.isPlanning} onClick={zonePlan.review}>
            Review changes
          </Button>
        </div>
      )}
      {dialog && (
        <RecordsDialog
          kind={dialog}
          zone={zone}
          records={records}
          edits={edits}
          onEditsChange={setEdits}
          onUndo={zonePlan.undo}
          onClose={() => setDialog(undefined)}
        />
      )}
      {plan && (
        <PlanDialog
          key={plan.id}
          plan={plan}
          onClose={zonePlan.close}
          onApplied={zonePlan.confirmApplied}
          onReviewAgain={() => zonePlan.reviewAgain(plan)}
          onUndo={({ id }) => zonePlan.undo(id)}
        />
      )}
    </section>
  )
}

type RecordsActionsProps = { onOpen: (kind: RecordsDialogKind) => void; onExport: () => void; onAdd: () => void }

function RecordsActions({ onOpen, onExport, onAdd }: RecordsActionsProps) {
  return (
    <>
      <Button size="small" icon={History} onClick={() => onOpen('history')}>
        History
      </Button>
      <Button size="small" icon={ListPlus} onClick={() => onOpen('templates')}>
        Templates
      </Button>
      <Button size="small" icon={Box} onClick={() => onOpen('sandbox')}>
        Sandbox
      </Button>
      <Button size="small" icon={FileUp} onClick={() => onOpen('import')}>
        Import
      </Button>
      <Button size="small" icon={Download} onClick={onExport}>
        Export
      </Button>
      <Button size="small" icon={Plus} onClick={onAdd}>
        Add record
      </Button>
    </>
  )
}

type RecordsDialogProps = {
  kind: RecordsDialogKind
  zone: string
  records: readonly DnsRecord[]
  edits: ZoneEdits
  onEditsChange: (edits: ZoneEdits) => void
  onUndo: (planId: string) => void
  onClose: () => void
}

function RecordsDialog({ kind, zone, records, edits, onEditsChange, onUndo, onClose }: RecordsDialogProps) {
  const closeWith = (next: ZoneEdits) => {
    onEditsChange(next)
    onClose()
  }
  const present = () => toRecords(buildZoneRows(records, edits))
  switch (kind) {
    case 'templates':
      return (
        <TemplatesDialog
          zone={zone}
          present={present()}
          onClose={onClose}
          onAdd={(added) =>
            closeWith(added.reduce((next, record) => withRecord(next, record, { newKey: createRecordKey() }), edits))
          }
        />
      )
    case 'sandbox':
      return (
        <SandboxDialog
          zone={zone}
          present={present()}
          onClose={onClose}
          onAdd={(record) => {
            const next = withAddress(records, edits, { record, newKey: createRecordKey() })
            if (next === edits) notify.done('Requests now go to the sandbox')
            closeWith(next)
          }}
        />
      )
    case 'history':
      return (
        <HistoryDialog
          zone={zone}
          onClose={onClose}
          onUndo={(planId) => {
            onClose()
            onUndo(planId)
          }}
        />
      )
    case 'import':
      return (
        <ImportDialog
          zone={zone}
          onClose={onClose}
          onImport={(imported, { replace }) =>
            closeWith(withImported(records, imported, { replace, newKey: createRecordKey }))
          }
        />
      )
  }
}

function downloadZone({ domain, nameservers }: RecordsEditorProps['domain'], records: readonly DnsRecord[]): void {
  const text = formatZoneFile({
    name: domain,
    nameservers,
    records: toRecords(buildZoneRows(records, noEdits)),
  })
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type: 'text/dns' }))
  link.download = `${domain}.zone`
  link.click()
  URL.revokeObjectURL(link.href)
}

/** Sandboxes that the domain or its subdomains point to. Renders nothing if there are none. */
function DomainSandboxes({ zone, onRemoved }: DomainSandboxesProps) {
  const { data: sandboxes = [] } = useSandboxes()
  const rows = useSandboxDomains(sandboxes).filter(
    ({ name: { domain } }) => domain === zone || domain.endsWith(`.${zone}`),
  )
  if (rows.length === 0) return null
  return (
    <ul aria-label="Sandboxes of this domain" className="rounded-control border border-line px-3 py-1">
      {rows.map((row) => (
        <SandboxDomainRow key={`${row.sandbox.id} ${row.name.domain}`} {...row} onRemoved={() => onRemoved(row.name)} />
      ))}
    </ul>
  )
}
