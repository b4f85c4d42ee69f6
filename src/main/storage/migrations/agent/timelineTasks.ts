import type { Migration } from '../../migrate.ts'

/**
 * Tasks, links and search terms of log entries, and trimming of the oldest entries, which is recorded as an entry.
 * Earlier entries have no task or links; their details are indexed.
 */
export const timelineTasks = {
  version: 17,
  up: `
  ALTER TABLE timeline ADD COLUMN task TEXT;
  ALTER TABLE timeline ADD COLUMN links TEXT; -- JSON; null for none
  CREATE INDEX timeline_by_task ON timeline (task, sequence) WHERE task IS NOT NULL;

  -- Made of the rows, and proof of nothing.
  CREATE TABLE timeline_links (
    kind TEXT NOT NULL,
    id TEXT NOT NULL,
    sequence INTEGER NOT NULL,
    PRIMARY KEY (kind, id, sequence)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX timeline_links_of_entry ON timeline_links (sequence);
  CREATE VIRTUAL TABLE timeline_index USING fts5(
    summary, kind, actor_name, subject, detail, links, content = 'timeline', content_rowid = 'sequence',
    tokenize = "unicode61 remove_diacritics 2 tokenchars '_'", prefix = '2 3', columnsize = 0
  );

  INSERT INTO timeline_links (kind, id, sequence)
    SELECT DISTINCT n.kind, CAST(json_extract(t.detail, n.path) AS TEXT), t.sequence
    FROM timeline t CROSS JOIN (
      SELECT 'intent' AS kind, '$.intent_id' AS path
      UNION ALL SELECT 'conversation', '$.conversation_id'
      UNION ALL SELECT 'message', '$.message_id'
    ) n WHERE json_valid(t.detail) AND json_extract(t.detail, n.path) IS NOT NULL;
  INSERT INTO timeline_links (kind, id, sequence)
    SELECT 'sandbox', subject, sequence FROM timeline
    WHERE subject IS NOT NULL AND json_valid(detail) AND json_extract(detail, '$.sandbox_name') IS NOT NULL;
  INSERT INTO timeline_index (rowid, summary, kind, actor_name, subject, detail, links)
    SELECT sequence, summary, kind, actor_name, subject, detail, links FROM timeline;

  CREATE TRIGGER timeline_added AFTER INSERT ON timeline BEGIN
    INSERT INTO timeline_index (rowid, summary, kind, actor_name, subject, detail, links)
      VALUES (new.sequence, new.summary, new.kind, new.actor_name, new.subject, new.detail, new.links);
    INSERT OR IGNORE INTO timeline_links (kind, id, sequence)
      SELECT key, value, new.sequence FROM json_each(iif(json_valid(new.links), new.links, '{}')) WHERE type = 'text';
  END;
  -- Only by hand; the search then finds what stands there, and the check of the chain that it was changed.
  CREATE TRIGGER timeline_changed AFTER UPDATE ON timeline BEGIN
    INSERT INTO timeline_index (timeline_index, rowid, summary, kind, actor_name, subject, detail, links)
      VALUES ('delete', old.sequence, old.summary, old.kind, old.actor_name, old.subject, old.detail, old.links);
    INSERT INTO timeline_index (rowid, summary, kind, actor_name, subject, detail, links)
      VALUES (new.sequence, new.summary, new.kind, new.actor_name, new.subject, new.detail, new.links);
  END;
  CREATE TRIGGER timeline_removed AFTER DELETE ON timeline BEGIN
    INSERT INTO timeline_index (timeline_index, rowid, summary, kind, actor_name, subject, detail, links)
      VALUES ('delete', old.sequence, old.summary, old.kind, old.actor_name, old.subject, old.detail, old.links);
    DELETE FROM timeline_links WHERE sequence = old.sequence;
  END;

  -- What may be removed: entries up to here. Written in the transaction that removes them, beside the entry that says so.
  CREATE TABLE timeline_cut (
    only INTEGER PRIMARY KEY CHECK (only = 1),
    through_sequence INTEGER NOT NULL
  ) STRICT;
  DROP TRIGGER timeline_keeps_rows;
  CREATE TRIGGER timeline_keeps_rows BEFORE DELETE ON timeline
    WHEN old.sequence > coalesce((SELECT through_sequence FROM timeline_cut), 0)
    BEGIN SELECT raise(ABORT, 'the log only grows'); END;
`,
} as const satisfies Migration
