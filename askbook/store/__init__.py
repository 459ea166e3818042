"""PostgreSQL: tables, migrations, small repositories. The only SQL dialect."""
