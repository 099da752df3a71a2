-- A log as format 1 was written, from before streams had marks.
BEGIN TRANSACTION;
CREATE TABLE streams (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    version INTEGER NOT NULL,
    first_at INTEGER NOT NULL,
    last_at INTEGER NOT NULL,
    last_kind TEXT NOT NULL,
    last_position INTEGER NOT NULL,
    hash BLOB NOT NULL
) STRICT;
INSERT INTO streams VALUES(1,'run/a',3,1700000000000,1700000000000,'k',7,X'b18ea982d76dcac0c33367a62f173796cbe481cc4f9d2d8cb8a43023b010adac');
INSERT INTO streams VALUES(2,'run/b',2,1700000000000,1700000000000,'k',5,X'39eda8507b73d39f3c1aa66cd92dbed2ca26ef47395cdf03daed7e36db6e720a');
INSERT INTO streams VALUES(3,'budget/2026-11',2,1700000000000,1700000000000,'k',6,X'98c21ae6e40a4f170a534b1eeed27f93da816444a83cd845f054e2988a1c4876');
CREATE TABLE records (
    position INTEGER PRIMARY KEY CHECK (position > 0),
    stream INTEGER NOT NULL REFERENCES streams (id),
    version INTEGER NOT NULL CHECK (version > 0),
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    schema INTEGER NOT NULL,
    payload TEXT NOT NULL,
    hash BLOB NOT NULL,
    chain BLOB NOT NULL
) STRICT;
INSERT INTO records VALUES(1,1,1,1700000000000,'k',1,'{"n":0,"said":"ä \"x\""}',X'cd30562bfa19264a3d0b2a44ace954989cc0bb4025adaf626726c39e78f5ae83',X'a0cdf20bbf5c9193af68c2e2020c0532764919e15c0c904934fdd3c1ffac4eee');
INSERT INTO records VALUES(2,2,1,1700000000000,'k',1,'{"n":1,"said":"ä \"x\""}',X'15174152d10af10db14d5ef1c60bb8a9e8856df3b5fbcc822da438f52ad6ca1f',X'cb6d428e3afe0950b953db07d952c8a455d36612dd0df1fe6290ab87d07ae6da');
INSERT INTO records VALUES(3,3,1,1700000000000,'k',1,'{"n":2,"said":"ä \"x\""}',X'1512d2694fdbe2494b2fe62d435e7dda3cd3ab68f7bd8e8771b3ae2a777d671b',X'620a40d8a67e9ad3e9cca6ae6abd97b633d56d0a3c9f4d8a302af072671cf84a');
INSERT INTO records VALUES(4,1,2,1700000000000,'k',1,'{"n":3,"said":"ä \"x\""}',X'c534765beab5e0de8143c209b80bf198e848727d099bed95b88e73a37a6c5a44',X'82b2fc14fd60bdd9751aa79649e6b1af8983f50eb423f8009613f692aecde556');
INSERT INTO records VALUES(5,2,2,1700000000000,'k',1,'{"n":4,"said":"ä \"x\""}',X'39eda8507b73d39f3c1aa66cd92dbed2ca26ef47395cdf03daed7e36db6e720a',X'57e4e232e9ebe9f2a980fc5f8172ab27b73694a086fb22216d27bee208941ba0');
INSERT INTO records VALUES(6,3,2,1700000000000,'k',1,'{"n":5,"said":"ä \"x\""}',X'98c21ae6e40a4f170a534b1eeed27f93da816444a83cd845f054e2988a1c4876',X'c716e4ef8309f12f0301ea9b88ce9b2fb6454914d953b730ed55919e54539e0c');
INSERT INTO records VALUES(7,1,3,1700000000000,'k',1,'{"last":true}',X'b18ea982d76dcac0c33367a62f173796cbe481cc4f9d2d8cb8a43023b010adac',X'53f43fc5d3bea81afc7c65862f31618d0a45e50342d49a3522e0267e6aceae35');
CREATE TABLE projections (
    name TEXT PRIMARY KEY,
    position INTEGER NOT NULL,
    picture TEXT NOT NULL
) STRICT;
INSERT INTO projections VALUES('p',3,'{"kept":1}');
CREATE TABLE outbox (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    topic TEXT NOT NULL,
    payload TEXT NOT NULL,
    due INTEGER NOT NULL
) STRICT;
INSERT INTO outbox VALUES(1,'m1','webhook','{"a":1}',900);
INSERT INTO outbox VALUES(2,'m2','terminal','{"a":2}',-9223372036854775808);
DELETE FROM sqlite_sequence;
INSERT INTO sqlite_sequence VALUES('outbox',2);
CREATE UNIQUE INDEX records_by_stream ON records (stream, version);
PRAGMA application_id = 1098216012;
PRAGMA user_version = 1;
COMMIT;
PRAGMA journal_mode = wal;
