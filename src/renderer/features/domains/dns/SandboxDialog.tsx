import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { useAgent } from '#renderer/api/AgentProvider.tsx'
import { Button } from '#renderer/ui/Button.tsx'
import { Dialog } from '#renderer/ui/Dialog.tsx'
import { ErrorNotice } from '#renderer/ui/ErrorNotice.tsx'
import { type SandboxPort, SandboxPortFields } from '#renderer/ui/sandboxes/SandboxPortFields.tsx'
import { TextField } from '#renderer/ui/TextField.tsx'
import { addSandboxDomain } from '#shared/contract/sandboxDomains.ts'
import { type DnsRecordData, DnsRecordError, normalizeRecord } from '#shared/dns/dnsRecord.ts'
import { findZoneConflict } from '#shared/dns/zoneRules.ts'
import { createSandboxRecord } from './sandboxRecord.ts'
import { createAddressFilter } from './zoneEdits.ts'

type SandboxDialogProps = {
  zone: string
  present: readonly DnsRecordData[]
  onClose: () => void
  onAdd: (record: DnsRecordData) => void
}

/**
 * Points a name of the domain to an exposed port of a sandbox: registers the name with the sandbox and adds a DNS
 * record.
 */
export function SandboxDialog({ zone, present, onClose, onAdd }: SandboxDialogProps) {
  const agent = useAgent()
  const [host, setHost] = useState('@')
  const [target, setTarget] = useState<SandboxPort>()
  const [fault, setFault] = useState<string>()
  const leading = useMutation({
    mutationFn: async ({ sandboxId, port }: { sandboxId: string; port: number }) => {
      const name = normalizeRecord(zone, { type: 'A', host, value: '127.0.0.1' }).host
      const led = await agent(addSandboxDomain, {
        ...{ id: sandboxId, port },
        domain: name === '@' ? zone : `${name}.${zone}`,
      })
      return createSandboxRecord(zone, name, led)
    },
    onSuccess: (record) => {
      const isReplaced = createAddressFilter(record.host)
      const conflict = findZoneConflict(
        present.filter((it) => !isReplaced(it)),
        record,
      )
      if (!conflict) return onAdd(record)
      setFault(`A ${conflict.with.type} record with this name exists. Delete it first.`)
    },
  })
  const port = target?.port
  const hostFault = leading.error instanceof DnsRecordError ? 'Use @, or a name such as app.' : undefined
  return (
    <Dialog
      open
      onOpenChange={(open) => !open && !leading.isPending && onClose()}
      title="Point at a sandbox"
      description="Requests for this name go to an exposed port of the sandbox. The record replaces other address records with this name."
      onSubmit={() => {
        setFault(undefined)
        if (target && port !== undefined) leading.mutate({ sandboxId: target.sandboxId, port })
      }}
      footer={
        <>
          <Button onClick={onClose} disabled={leading.isPending}>
            Cancel
          </Button>
          <Button type="submit" variant="primary" busy={leading.isPending} disabled={port === undefined}>
            Point at the sandbox
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-3">
        <TextField
          label="Name"
          hint={`@ for ${zone} itself, or a name below it.`}
          value={host}
          onChange={setHost}
          error={fault ?? hostFault}
          monospaced
        />
        <SandboxPortFields value={target} onChange={setTarget} />
        {leading.error && !hostFault && <ErrorNotice error={leading.error} />}
      </div>
    </Dialog>
  )
}
