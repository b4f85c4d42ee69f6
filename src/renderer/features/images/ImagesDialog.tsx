import { Plus } from 'lucide-react'
import { useState } from 'react'
import type { Image } from '#shared/contract/images.ts'
import { useRuntimes } from '../../api/sandboxes/useSandboxes.ts'
import { Button } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { ErrorNotice } from '../../ui/ErrorNotice.tsx'
import { SkeletonRows } from '../../ui/Skeleton.tsx'
import { notify } from '../../ui/toast.tsx'
import { AddImageForm } from './AddImageForm.tsx'
import { ImageRow } from './ImageRow.tsx'
import { emptyImageForm, type ImageForm, listSourceKinds, toImageInput } from './imageForm.ts'
import { useImageActions, useImages } from './useImages.ts'

/** Mount only while open. */
export function ImagesDialog({ onClose }: { onClose: () => void }) {
  const { data, error, isPending, refetch } = useImages()
  const { data: runtimes } = useRuntimes()
  const actions = useImageActions()
  // Values of the open form, if any.
  const [pendingForm, setPendingForm] = useState<ImageForm>()
  // Submitted forms, so that a failed one can be retried.
  const [tried, setTried] = useState<readonly ImageForm[]>([])
  const sources = runtimes && listSourceKinds(runtimes)
  const missing = runtimes?.map(({ image_detail }) => image_detail).find((it) => it !== null)

  const add = async (form: ImageForm) => {
    const name = form.name.trim()
    if (data?.some((candidate) => candidate.name === name && candidate.status === 'failed')) await actions.remove(name)
    await actions.add(toImageInput(form))
    setTried([...tried.filter((it) => it.name.trim() !== name), form])
    setPendingForm(undefined)
  }
  const remove = async ({ name }: Image) => {
    try {
      await actions.remove(name)
    } catch (error) {
      notify.failed(error, { title: `Could not remove the image ${name}` })
    }
  }
  const again = ({ name }: Image) =>
    setPendingForm(tried.find((it) => it.name.trim() === name) ?? { ...emptyImageForm, name })

  return (
    <Dialog
      open
      onOpenChange={(open) => !open && onClose()}
      title="Images"
      description="Root file systems for new sandboxes."
      width="wide"
    >
      <div className="flex flex-col gap-3">
        {isPending && <SkeletonRows label="Loading images…" count={2} rowClassName="h-10" />}
        {error && !data && <ErrorNotice error={error} onRetry={() => void refetch()} />}
        {data?.length === 0 && pendingForm === undefined && <p className="text-muted">No images yet.</p>}
        {data && data.length > 0 && (
          <ul aria-label="Images" className="flex flex-col divide-y divide-line">
            {data.map((image) => (
              <ImageRow
                key={image.name}
                image={image}
                onAgain={() => again(image)}
                onRemove={() => void remove(image)}
              />
            ))}
          </ul>
        )}
        {pendingForm !== undefined ? (
          <AddImageForm
            key={pendingForm.name}
            initial={pendingForm}
            sources={sources}
            missing={missing ?? undefined}
            add={add}
            onClose={() => setPendingForm(undefined)}
          />
        ) : (
          <div className="flex items-center gap-3">
            <Button icon={Plus} disabled={sources?.size === 0} onClick={() => setPendingForm(emptyImageForm)}>
              Add image
            </Button>
            {sources?.size === 0 && missing && <p className="text-small text-muted">{missing}</p>}
          </div>
        )}
      </div>
    </Dialog>
  )
}
